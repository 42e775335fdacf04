(component
  (import "belljar:mcp-kit/tools@0.1.0" (instance
    (type (record (field "message" string)))
    (export "note-t8f38a642b2944d0874dc" (type $note (eq 0)))
    (export "lie-tfe375977d7c9585fd491" (type $lie (eq 0)))
    (export "note" (func (param "args" string) (result (result string (error $note)))))
    (export "lie" (func (result (result (error $lie)))))))
  (import "belljar:sandbox/tools@0.2.0" (instance
    (export "tool" (type $tool (sub resource)))
    (export "find" (func (param "path" string) (result (result (own $tool) (error string)))))
    (export "[method]tool.call" (func (param "self" (borrow $tool)) (param "arguments" string) (result (result string (error string)))))))
  (import "belljar:mcp-kit/types@0.1.0" (instance))
  (import "wasi:cli/stdout@0.2.6" (instance))
  (core module $m
    (memory (export "memory") 1)
    (func (export "run") (result i32) i32.const 0))
  (core instance $i (instantiate $m))
  (func (export "run") (result (result string (error string)))
    (canon lift (core func $i "run") (memory (core memory $i "memory")))))
