//! What to try where a script is written as for another place: in the manner of Python, for a response of HTTP, for another type.

/// Names of Python, and what JavaScript has for them.
const OF_PYTHON: [(&str, &str); 14] = [
    ("print", "this is JavaScript: write console.log(…), or return the value"),
    ("len", "this is JavaScript: write x.length, or Object.keys(x).length of an object"),
    ("None", "this is JavaScript: write null"),
    ("True", "this is JavaScript: write true"),
    ("False", "this is JavaScript: write false"),
    ("str", "this is JavaScript: write String(x)"),
    ("int", "this is JavaScript: write Number(x), or Math.trunc(x)"),
    ("float", "this is JavaScript: write Number(x)"),
    ("dict", "this is JavaScript: write { key: value }, or Object.fromEntries(pairs)"),
    ("range", "this is JavaScript: write Array.from({ length: n }, (_, i) => i), or a for loop"),
    ("enumerate", "this is JavaScript: write for (const [index, value] of list.entries()) { … }"),
    ("sorted", "this is JavaScript: write [...list].sort((a, b) => a - b)"),
    ("json", "this is JavaScript: write JSON.parse(text) and JSON.stringify(value)"),
    ("zip", "this is JavaScript: write a.map((x, i) => [x, b[i]])"),
];

/// Methods that a value does not have in JavaScript, and what serves instead. `{}` is the value.
const METHODS: [(&str, &str); 14] = [
    ("strip", "this is JavaScript: write {}.trim()"),
    ("lstrip", "this is JavaScript: write {}.trimStart()"),
    ("rstrip", "this is JavaScript: write {}.trimEnd()"),
    ("upper", "this is JavaScript: write {}.toUpperCase()"),
    ("lower", "this is JavaScript: write {}.toLowerCase()"),
    ("startswith", "this is JavaScript: write {}.startsWith(…)"),
    ("endswith", "this is JavaScript: write {}.endsWith(…)"),
    ("append", "this is JavaScript: write {}.push(…)"),
    ("items", "this is JavaScript: write Object.entries({})"),
    ("json", "a tool's result is its value already, and no response of HTTP: use {} as it is"),
    ("text", "a tool's result is its value already, and no response of HTTP: use {} as it is"),
    ("keys", "of an object, Object.keys({}) gives the names"),
    ("values", "of an object, Object.values({}) gives the values"),
    ("entries", "of an object, Object.entries({}) gives the pairs"),
];

/// For those who expect the result as the protocol has it.
pub(super) const OWN_VALUE: &str = "a call returns the tool's own value, without `content[0].text` around it: use the result as it is; \
                                    tools.raw(path, arguments) returns the whole result";

/// For those who write to what cannot change.
const FROZEN: &str =
    "the object is frozen, or has only a getter for it: change a copy, as in `const copy = { ...object, name: value }`";

/// For those who call a method without its object.
const NO_THIS: &str = "`this` is undefined in a function that is called without an object: call it as `object.method()`, or pass on \
                       `() => object.method()`";

/// Methods that only arrays have.
const OF_ARRAYS: [&str; 18] = [
    "map",
    "filter",
    "forEach",
    "reduce",
    "find",
    "findIndex",
    "some",
    "every",
    "flatMap",
    "flat",
    "push",
    "pop",
    "sort",
    "reverse",
    "join",
    "shift",
    "splice",
    "unshift",
];

/// Methods that only strings have.
const OF_STRINGS: [&str; 18] = [
    "split",
    "trim",
    "replace",
    "replaceAll",
    "match",
    "matchAll",
    "startsWith",
    "endsWith",
    "toLowerCase",
    "toUpperCase",
    "padStart",
    "padEnd",
    "substring",
    "substr",
    "charAt",
    "charCodeAt",
    "localeCompare",
    "search",
];

/// What a name is in JavaScript that another language has.
pub(super) fn of_name(name: &str) -> Option<&'static str> {
    OF_PYTHON.iter().find(|(other, _)| *other == name).map(|(_, advice)| *advice)
}

/// What to try for an error of this message.
pub(super) fn of_message(name: &str, message: &str) -> Option<String> {
    match name {
        "TypeError" => {
            message.strip_suffix(" is not a function").and_then(of_method).or_else(|| of_type_error(message))
        }
        "RangeError" if message.contains("Invalid time value") => {
            Some("the date is invalid: is what `new Date(…)` gets defined, and a date?".to_owned())
        }
        "SyntaxError" => None,
        _ => None,
    }
}

fn of_type_error(message: &str) -> Option<String> {
    if message.contains("immutable binding") {
        return Some("it was declared with `const`: declare with `let` what changes".to_owned());
    }
    if message.contains("reduce") && message.contains("empty array") {
        return Some("the list is empty: give reduce an initial value as its second argument".to_owned());
    }
    if message.contains(".content is undefined or null") {
        return Some(OWN_VALUE.to_owned());
    }
    let writes = ["cannot set non-writable property", "Cannot assign to read only property", "Cannot add property"];
    if writes.iter().any(|start| message.starts_with(start)) {
        return Some(FROZEN.to_owned());
    }
    if message.ends_with(": this is undefined or null") {
        return Some(NO_THIS.to_owned());
    }
    // cannot read 'filter' of undefined: data.accounts is undefined or null
    let nothing = message.split_once(": ")?.1.strip_suffix(" is undefined or null")?;
    let (object, property) = nothing.rsplit_once('.')?;
    let is_plain = object.chars().all(|character| character.is_alphanumeric() || "_$.[]".contains(character));
    is_plain.then(|| {
        format!("{object} has no `{property}`: console.log({object}) shows what it has; `?.` reads what may be missing")
    })
}

fn of_method(callee: &str) -> Option<String> {
    let (object, method) = callee.rsplit_once('.')?;
    if let Some((_, advice)) = METHODS.iter().find(|(name, _)| *name == method) {
        return Some(advice.replace("{}", object));
    }
    if OF_ARRAYS.contains(&method) {
        return Some(format!(
            "{method} is a method of arrays, and {object} is none: a text is split first, as in {object}.split('\\n'); of an object, \
             Object.values({object}) is one, or a field of it; console.log({object}) shows what it is"
        ));
    }
    OF_STRINGS.contains(&method).then(|| {
        format!("{method} is a method of strings, and {object} is none; console.log({object}) shows what it is")
    })
}
