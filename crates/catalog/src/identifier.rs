//! Which names a script can use unquoted.

/// Words that JavaScript reserves in strict mode and in modules: they cannot name a variable or a
/// function.
#[rustfmt::skip]
pub const RESERVED_WORDS: &[&str] = &[
    "arguments", "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete",
    "do", "else", "enum", "eval", "export", "extends", "false", "finally", "for", "function", "if", "implements",
    "import", "in", "instanceof", "interface", "let", "new", "null", "package", "private", "protected", "public",
    "return", "static", "super", "switch", "this", "throw", "true", "try", "typeof", "var", "void", "while", "with",
    "yield",
];

/// Names that mean something in the language or the sandbox in every script, so that no server may
/// take them.
///
/// Names that the sandbox leaves out on purpose (`fetch`, `process`, `require`) are not among them:
/// servers may use those.
#[rustfmt::skip]
pub const GLOBALS: &[&str] = &[
    // values and functions of the language
    "Infinity", "NaN", "decodeURI", "decodeURIComponent", "encodeURI", "encodeURIComponent", "escape", "globalThis",
    "isFinite", "isNaN", "parseFloat", "parseInt", "undefined", "unescape",
    // constructors and namespaces of the language
    "AggregateError", "Array", "ArrayBuffer", "AsyncDisposableStack", "AsyncFunction", "AsyncGenerator",
    "AsyncGeneratorFunction", "AsyncIterator", "Atomics", "BigInt", "BigInt64Array", "BigUint64Array", "Boolean",
    "DataView", "Date", "DisposableStack", "Error", "EvalError", "FinalizationRegistry", "Float16Array",
    "Float32Array", "Float64Array", "Function", "Generator", "GeneratorFunction", "Int16Array", "Int32Array",
    "Int8Array", "Intl", "Iterator", "JSON", "Map", "Math", "Number", "Object", "Promise", "Proxy", "RangeError",
    "ReferenceError", "Reflect", "RegExp", "Set", "SharedArrayBuffer", "String", "SuppressedError", "Symbol",
    "SyntaxError", "Temporal", "TypeError", "URIError", "Uint16Array", "Uint32Array", "Uint8Array",
    "Uint8ClampedArray", "WeakMap", "WeakRef", "WeakSet", "WebAssembly",
    // of the sandbox
    "PolicyError", "TextDecoder", "TextEncoder", "ToolError", "URL", "URLSearchParams", "atob", "btoa",
    "clearInterval", "clearTimeout", "console", "crypto", "performance", "queueMicrotask", "setImmediate", "clearImmediate",
    "setInterval", "setTimeout", "structuredClone", "tools",
];

/// Names that the language looks up on objects by itself, so that no tool may have them as its
/// property.
///
/// `then` makes an object a promise: `await fs`, or returning `fs` from an async function, would
/// call the tool. `toJSON`, `toString` and `valueOf` are called by conversions; the others are used
/// to inspect objects.
#[rustfmt::skip]
pub const SPECIAL_PROPERTIES: &[&str] = &[
    "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__", "constructor",
    "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "then", "toJSON", "toLocaleString", "toString",
    "valueOf",
];

/// Whether the text is an identifier in ASCII, reserved or not.
pub fn is_identifier(text: &str) -> bool {
    text.starts_with(|first: char| !first.is_ascii_digit()) && text.chars().all(is_identifier_part)
}

/// The nearest identifier: each invalid character becomes `_`, and a leading digit gets `_` before
/// it.
pub(crate) fn identifier(text: &str) -> String {
    let mut name = String::with_capacity(text.len() + 1);
    if text.is_empty() || text.starts_with(|first: char| first.is_ascii_digit()) {
        name.push('_');
    }
    name.extend(text.chars().map(|character| if is_identifier_part(character) { character } else { '_' }));
    name
}

fn is_identifier_part(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '$')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_told_from_other_names() {
        for good in ["a", "_", "$", "read_file", "aB9"] {
            assert!(is_identifier(good), "{good}");
            assert_eq!(identifier(good), good);
        }
        for (bad, near) in
            [("", "_"), ("9a", "_9a"), ("a-b", "a_b"), ("é.ü", "___"), ("a b\u{1b}", "a_b_"), ("日本", "__")]
        {
            assert!(!is_identifier(bad), "{bad}");
            assert_eq!(identifier(bad), near);
        }
    }
}
