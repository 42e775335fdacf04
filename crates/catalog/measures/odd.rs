//! Generates endless odd tool definitions: schemas of every draft, as wrong and as hostile as
//! possible.
//!
//! The same seed gives the same definitions, on every machine.

use serde_json::{Map, Value, json};

/// Depth at which a schema is a leaf.
const DEPTH: u32 = 4;

const NAMES: [&str; 24] = [
    "a",
    "name",
    "then",
    "constructor",
    "__proto__",
    "class",
    "delete",
    "a-b",
    "a b",
    "日本",
    "\u{2028}",
    "*/",
    "`${x}`",
    "\"",
    "'",
    "\\",
    "",
    "0",
    "1e3",
    "x\ny",
    "toString",
    "é",
    "@ts-ignore",
    "👩‍🚀",
];

const TEXTS: [&str; 10] = [
    "plain words",
    "*/ declare const leaked: number; /*",
    "ends with *",
    "`${process.env}` and \\u002a/",
    "two\nlines\r\nand \u{2028} more \u{2029} and \u{85}",
    "// @ts-nocheck\n@ts-ignore",
    "</script> <!-- \u{202e} reversed",
    "@param {never} x @returns {any}",
    "\u{0}\u{7}\u{1b}[31m",
    "a **/ b /** c",
];

/// A small generator of numbers (xorshift64*): a test needs no more, and its numbers never change.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed.max(1))
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        u32::try_from(high).expect("half of the bits") % end
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        let place = self.below(u32::try_from(of.len()).expect("a short list"));
        &of[usize::try_from(place).expect("a small number")]
    }

    fn often(&mut self) -> bool {
        self.below(3) == 0
    }
}

/// The entry of a tool list.
pub fn tool(number: usize, numbers: &mut Numbers) -> Value {
    let mut tool = Map::new();
    let name = if numbers.often() { (*numbers.one(&NAMES)).to_owned() } else { "tool".to_owned() };
    tool.insert("name".to_owned(), json!(format!("{name}{number}")));
    tool.insert("description".to_owned(), json!(numbers.one(&TEXTS)));
    tool.insert("inputSchema".to_owned(), document(numbers));
    if numbers.below(2) == 0 {
        tool.insert("outputSchema".to_owned(), document(numbers));
    }
    Value::Object(tool)
}

/// A schema with definitions that refer to each other.
fn document(numbers: &mut Numbers) -> Value {
    let mut schema = schema(numbers, 0);
    if let Value::Object(schema) = &mut schema {
        if numbers.below(2) == 0 {
            schema.insert("type".to_owned(), json!("object"));
        }
        for key in ["$defs", "definitions"] {
            let definitions = (0..3).map(|number| (format!("d{number}"), self::schema(numbers, 1)));
            schema.insert(key.to_owned(), Value::Object(definitions.collect()));
        }
    }
    schema
}

fn schema(numbers: &mut Numbers, depth: u32) -> Value {
    if depth >= DEPTH {
        return leaf(numbers);
    }
    let mut schema = Map::new();
    for _ in 0..=numbers.below(3) {
        let (key, value) = keyword(numbers, depth + 1);
        schema.insert(key.to_owned(), value);
    }
    if numbers.often() {
        schema.insert("description".to_owned(), json!(numbers.one(&TEXTS)));
    }
    Value::Object(schema)
}

fn leaf(numbers: &mut Numbers) -> Value {
    match numbers.below(9) {
        0 => json!(true),
        1 => json!(false),
        2 => json!({}),
        3 => json!({ "$ref": reference(numbers) }),
        4 => json!({ "const": constant(numbers) }),
        5 => json!({ "type": ["string", "null"], "format": numbers.one(&TEXTS) }),
        6 => {
            json!({ "type": "integer", "minimum": 1, "exclusiveMinimum": numbers.often(), "default": constant(numbers) })
        }
        7 => json!({ "type": "string", "pattern": numbers.one(&TEXTS), "nullable": true }),
        _ => {
            json!({ "type": *numbers.one(&["string", "number", "boolean", "null", "array", "object", "any", "file"]) })
        }
    }
}

fn keyword(numbers: &mut Numbers, depth: u32) -> (&'static str, Value) {
    let many = |numbers: &mut Numbers| {
        let count = numbers.below(4);
        Value::from_iter((0..count).map(|_| schema(numbers, depth)))
    };
    match numbers.below(16) {
        0 => ("type", json!(numbers.one(&["object", "array", "string", "number"]))),
        1..=3 => ("properties", properties(numbers, depth)),
        4 => ("required", Value::from_iter((0..3).map(|_| *numbers.one(&NAMES)))),
        5 => ("additionalProperties", schema(numbers, depth)),
        6 => ("patternProperties", json!({ "^x": schema(numbers, depth) })),
        7 => ("items", if numbers.often() { many(numbers) } else { schema(numbers, depth) }),
        8 => ("prefixItems", many(numbers)),
        9 => ("anyOf", many(numbers)),
        10 => ("oneOf", many(numbers)),
        11 => ("allOf", many(numbers)),
        12 => ("enum", Value::from_iter((0..numbers.below(5)).map(|_| constant(numbers)))),
        13 => ("$ref", json!(reference(numbers))),
        14 => ("title", json!(numbers.one(&TEXTS))),
        // A keyword with a value that no draft allows.
        _ => (*numbers.one(&["properties", "items", "anyOf", "required", "$ref", "type", "enum"]), constant(numbers)),
    }
}

fn properties(numbers: &mut Numbers, depth: u32) -> Value {
    let count = numbers.below(4);
    let property = |_| ((*numbers.one(&NAMES)).to_owned(), schema(numbers, depth));
    Value::Object((0..count).map(property).collect())
}

fn reference(numbers: &mut Numbers) -> &'static str {
    numbers.one::<&str>(&[
        "#",
        "#/$defs/d0",
        "#/$defs/d1",
        "#/definitions/d2",
        "#/definitions/d0",
        "#/nowhere",
        "http://x/y",
        "#/$defs",
    ])
}

fn constant(numbers: &mut Numbers) -> Value {
    match numbers.below(7) {
        0 => json!(null),
        1 => json!(-1.5),
        2 => json!(1e300),
        3 => json!([1, "two"]),
        4 => json!({ "a": 1 }),
        5 => json!(true),
        _ => json!(numbers.one(&TEXTS)),
    }
}
