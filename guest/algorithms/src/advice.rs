//! What to try where a script is written as for another place: in the manner of Python, for a
//! response of HTTP, for another type.

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
const METHODS: [(&str, &str); 31] = [
    ("strip", "this is JavaScript: write {}.trim()"),
    ("lstrip", "this is JavaScript: write {}.trimStart()"),
    ("rstrip", "this is JavaScript: write {}.trimEnd()"),
    ("upper", "this is JavaScript: write {}.toUpperCase()"),
    ("lower", "this is JavaScript: write {}.toLowerCase()"),
    ("startswith", "this is JavaScript: write {}.startsWith(…)"),
    ("endswith", "this is JavaScript: write {}.endsWith(…)"),
    ("append", "this is JavaScript: write {}.push(…)"),
    ("items", "this is JavaScript: write Object.entries({})"),
    ("json", "a tool's result is its value already, not an HTTP response: use {} as it is"),
    ("text", "a tool's result is its value already, not an HTTP response: use {} as it is"),
    ("keys", "of an object, Object.keys({}) gives the names"),
    ("values", "of an object, Object.values({}) gives the values"),
    ("entries", "of an object, Object.entries({}) gives the pairs"),
    ("contains", "this is JavaScript: write {}.includes(…)"),
    ("has_key", "this is JavaScript: write 'key' in {}, or Object.hasOwn({}, 'key')"),
    ("sum", "arrays have no sum: write {}.reduce((sum, x) => sum + x, 0)"),
    ("max", "arrays have no max: write Math.max(...{})"),
    ("min", "arrays have no min: write Math.min(...{})"),
    ("first", "write {}[0]"),
    ("last", "write {}.at(-1)"),
    ("unique", "write [...new Set({})]"),
    ("count", "write {}.filter((x) => …).length, or {}.split(part).length - 1 of a text"),
    ("extend", "this is JavaScript: write {}.push(...others)"),
    ("isdigit", "this is JavaScript: write /^\\d+$/.test({})"),
    (
        "format",
        "this is JavaScript: write a template in back-ticks, `… ${value} …`; of a date, Intl.DateTimeFormat formats",
    ),
    (
        "strftime",
        "this is JavaScript: date.toISOString().slice(0, 10) is 2026-03-04; new Intl.DateTimeFormat('en-US', { month: 'long', day: 'numeric' }).format(date) is March 4",
    ),
    ("strptime", "this is JavaScript: write new Date(text)"),
    ("isoformat", "this is JavaScript: write date.toISOString()"),
    ("length", "length is not a method: write {}.length"),
    ("size", "size is not a method: write {}.length of an array or a text, {}.size of a Map or Set"),
];

/// The longest expression that is repeated.
const MAX_OBJECT: usize = 60;

/// For those who expect the result as the protocol has it.
pub const OWN_VALUE: &str = "a call returns the tool's own value, without `content[0].text` around it: use the result as it is; \
                                    tools.raw(path, arguments) returns the whole result";

/// For those who write to what cannot change.
const FROZEN: &str =
    "the object is frozen, or has only a getter for it: change a copy, as in `const copy = { ...object, name: value }`";

/// For those who call a method without its object.
const NO_THIS: &str = "`this` is undefined in a function that is called without an object: call it as `object.method()`, or pass on \
                       `() => object.method()`";

/// Methods that only arrays have.
pub const OF_ARRAYS: [&str; 18] = [
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
pub const OF_STRINGS: [&str; 18] = [
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

/// Whether a method is one that is known from elsewhere, or of a response of HTTP.
pub fn is_of_elsewhere(method: &str) -> bool {
    METHODS.iter().any(|(name, _)| *name == method)
}

/// What a name is in JavaScript that another language has.
pub fn of_name(name: &str) -> Option<&'static str> {
    OF_PYTHON.iter().find(|(other, _)| *other == name).map(|(_, advice)| *advice)
}

/// What to try for an error of this message. `operand` is what the engine could not use, as the
/// source has it.
pub fn of_message(name: &str, message: &str, operand: Option<&str>) -> Option<String> {
    match name {
        "TypeError" => message
            .strip_suffix(" is not a function")
            .and_then(of_method)
            .or_else(|| of_iterable(message))
            .or_else(|| of_type_error(message))
            .or_else(|| of_nothing(message, operand?)),
        "RangeError" if message == "Maximum call stack size exceeded" => {
            Some("functions call each other too often: use a loop, or a list of what is left to do".to_owned())
        }
        "DataCloneError" => Some(
            "only data can be copied: leave out functions and the like, or JSON.parse(JSON.stringify(x))".to_owned(),
        ),
        "RangeError" if message.contains("Invalid time value") => {
            Some("the date is invalid: is what `new Date(…)` gets defined, and a date?".to_owned())
        }
        _ => None,
    }
}

fn of_type_error(message: &str) -> Option<String> {
    if message == "Assignment to constant variable." {
        return Some("it was declared with `const`: declare with `let` what changes".to_owned());
    }
    let writes = ["cannot set non-writable property", "Cannot assign to read only property", "Cannot add property"];
    if writes.iter().any(|start| message.starts_with(start)) {
        return Some(FROZEN.to_owned());
    }
    if message == "Reduce of empty array with no initial value" {
        return Some("the list is empty: give reduce an initial value as its second argument".to_owned());
    }
    None
}

/// What was taken for a list.
fn of_iterable(message: &str) -> Option<String> {
    let list = message.strip_suffix(" is not iterable")?;
    if list.ends_with(" is not a function or its return value") || list == "(intermediate value)" {
        return Some(
            "what is called gives undefined, a promise or an object: `console.log` shows it; a promise needs `await` before it; of an \
             object, Object.entries(…) is a list, or a field of it"
                .to_owned(),
        );
    }
    let looked_at = list.rsplit_once('.').filter(|_| is_plain(list)).map_or(list, |(object, _)| object);
    Some(format!(
        "{list} is undefined, or an object or a promise: console.log({looked_at}) shows it; of an object, Object.entries({list}) is a \
         list, or a field of it; of a promise, put `await` before it"
    ))
}

/// What was undefined or null, and used as an object.
fn of_nothing(message: &str, operand: &str) -> Option<String> {
    if operand == "this" {
        return Some(NO_THIS.to_owned());
    }
    if operand.ends_with(".content") {
        return Some(OWN_VALUE.to_owned());
    }
    let is_nothing = ["Cannot read properties of ", "Cannot set properties of ", "Cannot destructure "];
    if !is_nothing.iter().any(|start| message.starts_with(start)) {
        return None;
    }
    let nothing = if message.contains(" null") { "null" } else { "undefined" };
    if let Some(callee) = operand.strip_suffix("(...)") {
        return Some(format!(
            "{callee} gave {nothing}: check what it gave before you use it; `?.` reads what may be missing"
        ));
    }
    if let Some((list, index)) = operand.strip_suffix(']').and_then(|rest| rest.rsplit_once("[-")) {
        return Some(format!("an index counts from the beginning: write {list}.at(-{index})"));
    }
    if !is_plain(operand) {
        return Some(format!("what is used is {nothing}: check it first; `?.` reads what may be missing"));
    }
    Some(match operand.rsplit_once('.') {
        Some((object, _)) => {
            format!(
                "{operand} is {nothing}: console.log({object}) shows what {object} has; `?.` reads what may be missing"
            )
        }
        None => format!("{operand} is {nothing}: where does its value come from? `?.` reads what may be missing"),
    })
}

/// Whether an expression is nothing but names and indices.
pub fn is_plain(expression: &str) -> bool {
    expression.chars().all(|character| character.is_alphanumeric() || "_$.[]".contains(character))
}

fn of_method(callee: &str) -> Option<String> {
    let (object, method) = callee.rsplit_once('.')?;
    if let Some((_, advice)) = METHODS.iter().find(|(name, _)| *name == method) {
        // What has no name, or a long one, is called `x`.
        let shown = if object.contains("(intermediate value)") || object.len() > MAX_OBJECT { "x" } else { object };
        return Some(advice.replace("{}", shown));
    }
    if OF_ARRAYS.contains(&method) {
        return Some(format!(
            "{method} is a method of arrays, and {object} is not an array: a text is split first, as in {object}.split('\\n'); of an object, \
             Object.values({object}) is one, or a field of it; console.log({object}) shows what it is"
        ));
    }
    OF_STRINGS.contains(&method).then(|| {
        format!("{method} is a method of strings, and {object} is not a string; console.log({object}) shows what it is")
    })
}
