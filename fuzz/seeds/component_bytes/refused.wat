(component
  (import "wasi:http/types@0.2.6" (instance))
  (import "wasi:cli/stdout@0.3.0" (instance))
  (import "belljar:mcp-kit/tools@9.0.0" (instance))
  (import "belljar:sandbox/tools@0.1.0" (instance))
  (import "a:b/c" (func))
  (import "plain" (func)))
