(component
  (component $inner (import "a:b/c" (func)) (component (import "d" (instance (export "e" (type (sub resource)))))))
  (import "f" (type (sub resource)))
  (type $t (record (field "a" (list (option (tuple u8 char)))) (field "b" (variant (case "x" (own 0)) (case "y")))))
  (import "wasi:random/random@0.2.6" (instance (export "get" (func (result u64))))))
