use serde_json::{Value, json};

use super::*;
use crate::{
    bounds::{DECLARATION_BYTES, SIGNATURE_BYTES},
    names::{namespaces, properties},
    testing::{catalog, real},
};

fn tool(entry: &Value) -> (Names, Names, ToolDefinition) {
    let definition = ToolDefinition::from_json(entry.clone()).expect("a tool");
    (namespaces(&["fs"]).remove(0), properties(&[&definition.name]).remove(0), definition)
}

fn declared(entry: &Value) -> String {
    let (namespace, names, definition) = tool(entry);
    declaration(&namespace, &names, &definition, "read_only", None)
}

fn signed(entry: &Value) -> String {
    let (namespace, names, definition) = tool(entry);
    signature(namespace.alias(), names.alias(), &definition, None)
}

/// The type of a parameter with this schema, in a signature.
fn kind(schema: Value) -> String {
    let text = signed(&json!({"name": "t", "inputSchema": {"properties": {"x": schema}, "required": ["x"]}}));
    let kind = text.strip_prefix("fs.t(args: { x: ").and_then(|text| text.strip_suffix(" }): Promise<unknown>"));
    kind.unwrap_or(&text).to_owned()
}

#[test]
fn a_text_that_is_json_by_its_description_is_said_to_be_and_how_it_comes() {
    let content = json!({"type": "object", "properties": {"content": {"type": "string"}}, "required": ["content"]});
    let described = |said: &str, output: Option<Value>| {
        let mut entry = json!({"name": "t", "description": said, "inputSchema": {"properties": {}}});
        if let Some(output) = output {
            entry["outputSchema"] = output;
        }
        (signed(&entry), declared(&entry))
    };
    let (line, full) = described("A tree as a JSON structure.", Some(content.clone()));
    assert_eq!(line, "fs.t(): Promise<{ content: string } /* JSON text */>");
    assert!(full.contains("Its text is JSON, by its description: use JSON.parse."), "{full}");
    let (line, full) = described("Gives rows in JSON.", None);
    assert_eq!(line, "fs.t(): Promise<unknown /* JSON, parsed */>");
    assert!(full.contains("Its text is JSON, by its description, and comes parsed."), "{full}");
    let two = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "number"}}});
    for (said, output) in
        [("Reads a file.", Some(content)), ("Reads a JSON file.", None), ("In JSON: as JSON", Some(two))]
    {
        let (line, full) = described(said, output);
        assert!(!line.contains("/*") && !full.contains("Its text is JSON"), "{line}\n{full}");
    }
}

#[test]
fn a_declaration_says_what_a_tool_takes_gives_and_does() {
    let entry = json!({
        "name": "read_file", "description": "Read a file.\n\nAs text.",
        "inputSchema": {"type": "object", "required": ["path"], "properties": {
            "path": {"type": "string", "description": "Where it is"},
            "head": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
        }},
        "outputSchema": {"type": "object", "properties": {"content": {"type": "string"}}, "required": ["content"]},
    });
    assert_eq!(
        declared(&entry),
        "declare namespace fs {
  /**
   * Read a file.
   * As text.
   * (read_only)
   * Example: await fs.read_file({ path: \"...\" })
   */
  function read_file(args: {
    /** Where it is */
    path: string;
    /** integer; 1 to 100; default 10 */
    head?: number;
  }): Promise<{ content: string }>;
}"
    );
    assert_eq!(signed(&entry), "fs.read_file(args: { path: string; head?: number }): Promise<{ content: string }>");
}

#[test]
fn a_name_that_is_no_identifier_is_declared_under_its_alias() {
    assert_eq!(
        declared(&json!({"name": "a-*/b", "description": "Does it."})),
        "declare namespace fs {
  /**
   * Does it. (read_only; exact name \"a-*\\/b\")
   * Example: await fs.a___b()
   */
  function a___b(args?: Record<string, unknown>): Promise<unknown>;
}"
    );
    assert!(declared(&json!({"name": "delete"})).contains("function delete_("));
}

#[test]
fn arguments_are_optional_where_none_is_required() {
    let parameters = |schema: Value| signed(&json!({"name": "t", "inputSchema": schema}));
    for (schema, expected) in [
        (json!({"type": "object", "properties": {}}), "fs.t(): Promise<unknown>"),
        (json!({"type": "object", "additionalProperties": false}), "fs.t(): Promise<unknown>"),
        (json!({"type": "object"}), "fs.t(args?: Record<string, unknown>): Promise<unknown>"),
        (json!({"properties": {"a": {}}}), "fs.t(args?: { a?: unknown }): Promise<unknown>"),
        (json!({"required": ["a"]}), "fs.t(args: { a: unknown }): Promise<unknown>"),
    ] {
        assert_eq!(parameters(schema), expected);
    }
}

#[test]
fn schemas_of_every_draft_become_types() {
    for (schema, expected) in [
        (json!({"type": ["string", "null"]}), "string | null"),
        (json!({"type": "string", "nullable": true}), "string | null"),
        (json!({"type": "integer"}), "number"),
        (json!(true), "unknown"),
        (json!(false), "never"),
        (json!({"const": "a\"b"}), r#""a\"b""#),
        (json!({"enum": ["a", 1, null, true]}), r#""a" | 1 | null | true"#),
        (json!({"enum": [18_446_744_073_709_551_615_u64]}), "number"),
        (json!({"type": "array", "items": {"enum": ["a", "b"]}}), r#"("a" | "b")[]"#),
        (json!({"type": "array"}), "unknown[]"),
        (json!({"items": [{"type": "string"}, {"type": "number"}], "additionalItems": false}), "[string, number]"),
        (json!({"prefixItems": [{"type": "string"}], "items": {"type": "number"}}), "[string, ...number[]]"),
        (json!({"prefixItems": [{"type": "string"}, {}], "minItems": 1}), "[string, unknown?]"),
        (json!({"type": "object", "additionalProperties": {"type": "number"}}), "{ [key: string]: number }"),
        (json!({"patternProperties": {"^x": {"type": "number"}}}), "{ [key: string]: number }"),
        (
            json!({"properties": {"a-b": {}}, "additionalProperties": {"type": "number"}}),
            r#"{ "a-b"?: unknown } & { [key: string]: number }"#,
        ),
        (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), "string | null"),
        (json!({"type": "string", "oneOf": [{"const": "a"}, {"const": "b"}]}), r#""a" | "b""#),
        (json!({"allOf": [{"properties": {"a": {"type": "string"}}}, {"required": ["a"]}]}), "{ a: string }"),
        (json!({"minLength": 1}), "string"),
        (json!({"$ref": "https://elsewhere.example/schema"}), "unknown"),
        (json!({"type": "object", "properties": {"delete": {}, "": {}}}), r#"{ delete?: unknown; ""?: unknown }"#),
    ] {
        let shown = schema.to_string();
        assert_eq!(kind(schema), expected, "{shown}");
    }
}

#[test]
fn what_refers_to_itself_has_a_name() {
    let entry = json!({"name": "put", "inputSchema": {
        "type": "object", "properties": {"tree": {"$ref": "#/$defs/tree-node"}, "label": {"$ref": "#/$defs/label"}},
        "$defs": {
            "tree-node": {"description": "A node", "type": "object",
                          "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/tree-node"}}}},
            "label": {"type": "string", "description": "Its label"},
        },
    }});
    assert_eq!(
        declared(&entry),
        "declare namespace fs {
  /** A node */
  type put_TreeNode = { children?: put_TreeNode[] };
  /**
   * (read_only)
   * Example: await fs.put()
   */
  function put(args?: {
    tree?: put_TreeNode;
    /** Its label */
    label?: string;
  }): Promise<unknown>;
}"
    );
    assert_eq!(
        signed(&entry),
        "fs.put(args?: { tree?: { children?: { children?: Record<string, unknown>[] }[] }; label?: string }): Promise<unknown>"
    );
}

#[test]
fn a_type_that_is_only_itself_is_unknown() {
    let schema = json!({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {
        "a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]},
    }});
    let text = declared(&json!({"name": "t", "inputSchema": schema}));
    assert!(text.contains("function t(args?: { a?: unknown }): Promise<unknown>;"), "{text}");
    assert!(declared(&json!({"name": "t", "inputSchema": {"$ref": "#"}})).contains("args?: Record<string, unknown>"));
}

#[test]
fn a_bomb_of_references_stays_small() {
    let level = |next: usize| {
        let members: serde_json::Map<String, Value> =
            (0..10).map(|member| (format!("m{member}"), json!({"$ref": format!("#/$defs/l{next}")}))).collect();
        json!({"type": "object", "properties": members})
    };
    let levels: serde_json::Map<String, Value> = (0..100).map(|at| (format!("l{at}"), level(at + 1))).collect();
    let bomb = json!({"name": "t", "inputSchema": {"properties": {"a": {"$ref": "#/$defs/l0"}}, "$defs": levels}});
    assert!(declared(&bomb).len() < DECLARATION_BYTES);
    assert!(signed(&bomb).len() < 3 * SIGNATURE_BYTES);
}

#[test]
fn depth_and_width_are_bounded() {
    // Deeper than any JSON parser allows.
    let deep = (0..300).fold(json!({"type": "string"}), |inner, level| match level % 3 {
        0 => json!({"properties": {"d": inner}}),
        1 => json!({"items": inner}),
        _ => json!({"anyOf": [inner, {"type": "null"}]}),
    });
    let entry = json!({"name": "t", "inputSchema": {"type": "object", "properties": {"x": deep}}});
    assert!(declared(&entry).contains("unknown"));
    assert!(signed(&entry).len() < 3 * SIGNATURE_BYTES);
    let members: serde_json::Map<String, Value> =
        (0..50_000).map(|at| (format!("m{at}"), json!({"type": "string", "description": "x".repeat(50)}))).collect();
    let wide = json!({"name": "t", "inputSchema": {"properties": members}});
    let text = declared(&wide);
    assert!(text.len() < DECLARATION_BYTES + 2_000, "{}", text.len());
    assert!(text.contains(" more */"));
    assert!(signed(&wide).contains("more */ }): Promise<unknown>"));
}

#[test]
fn many_large_types_share_one_room() {
    let members: serde_json::Map<String, Value> =
        (0..40).map(|at| (format!("m{at}"), json!({"type": "string", "description": "x".repeat(400)}))).collect();
    let types: serde_json::Map<String, Value> =
        (0..60).map(|at| (format!("t{at}"), json!({"properties": members}))).collect();
    let uses: serde_json::Map<String, Value> =
        (0..120).map(|at| (format!("u{at}"), json!({"$ref": format!("#/$defs/t{}", at / 2)}))).collect();
    let text = declared(&json!({"name": "t", "inputSchema": {"properties": uses, "$defs": types}}));
    assert!(text.len() < 3 * DECLARATION_BYTES, "{}", text.len());
    assert!(text.contains("  type t_T40 = unknown;\n"));
}

#[test]
fn recursion_needs_little_stack() {
    let small = std::thread::Builder::new().stack_size(512 * 1024);
    let run = small.spawn(|| {
        let inner = |level: usize| json!({"$ref": format!("#/$defs/l{level}")});
        let deep = |level| {
            (0..40).fold(inner(level), |inner, _| json!({"anyOf": [{"properties": {"d": inner}}, {"items": {}}]}))
        };
        let levels: serde_json::Map<String, Value> = (0..60).map(|at| (format!("l{at}"), deep(at + 1))).collect();
        let entry = json!({"name": "t", "inputSchema": {"properties": {"a": inner(0)}, "$defs": levels}});
        declared(&entry).len() + signed(&entry).len()
    });
    assert!(run.expect("a thread").join().expect("no overflow") > 0);
}

#[test]
fn a_hostile_description_stays_a_comment() {
    let evil = "*/ }\ndeclare const evil: any;\u{2028}@ts-ignore\u{1b}[2J */ /* `${x}` \u{202e}";
    let text = declared(&json!({"name": "t", "description": evil, "inputSchema": {
        "properties": {evil: {"type": "string", "description": evil, "default": evil, "pattern": evil, "format": evil}},
    }}));
    assert_eq!(
        code(&text).split_whitespace().collect::<Vec<_>>().join(" "),
        "declare namespace fs { function t(args?: { \"\"?: string; }): Promise<unknown>; }",
        "{text}"
    );
    assert!(!text.replace("\\u2028@ts-ignore", "").contains("@ts-ignore"), "{text}");
    assert!(text.chars().all(|character| character == '\n' || !crate::text::is_hidden(character)), "{text}");
}

#[test]
fn every_tool_of_real_servers_and_of_a_hostile_one_is_declared() {
    let hostile = catalog(&[("hostile", include_str!("../../testdata/odd/hostile.json"))]);
    let real = real();
    let mut seen = std::collections::HashSet::new();
    for tool in real.tools().chain(hostile.tools()) {
        let (text, line) = (tool.declaration(), tool.signature());
        assert!(text.starts_with("declare namespace ") && text.ends_with(";\n}"), "{text}");
        assert!(text.contains(&format!("  function {}(", tool.names().alias())), "{text}");
        assert!(text.len() < DECLARATION_BYTES * 2, "{} has {} bytes", tool.expression(), text.len());
        assert!(line.starts_with(tool.expression()) && line.contains("): Promise<") && !line.contains('\n'), "{line}");
        for shown in [text, line, tool.summary()] {
            let hidden = shown.chars().find(|character| *character != '\n' && crate::text::is_hidden(*character));
            assert_eq!(hidden, None, "{shown}");
        }
        assert!(seen.insert(tool.expression().to_owned()), "{} twice", tool.expression());
    }
    assert_eq!(real.tools().count(), 164);
}

#[test]
fn real_tools_are_declared_as_people_would_write_them() {
    let catalog = real();
    let declared = |path: &str| catalog.lookup(path).expect("a real tool").declaration();
    assert_eq!(
        declared("filesystem.edit_file"),
        "declare namespace filesystem {
  /**
   * Make line-based edits to a text file. Each edit replaces exact line sequences with new content. Returns a git-style diff showing the changes made. Only works within allowed directories.
   * (mutating)
   * Example: await filesystem.edit_file({ path: \"...\", edits: [{ oldText: \"...\", newText: \"...\" }] })
   */
  function edit_file(args: {
    path: string;
    edits: {
      /** Text to search for - must match exactly */
      oldText: string;
      /** Text to replace with */
      newText: string;
    }[];
    /** Preview changes using git-style diff format (default false) */
    dryRun?: boolean;
  }): Promise<{ content: string }>;
}"
    );
    assert_eq!(
        declared("time.convert_time"),
        "declare namespace time {
  type convert_time_TimeResult = { timezone: string; datetime: string; day_of_week: string; is_dst: boolean };
  /**
   * Convert time between timezones (read_only)
   * Example: await time.convert_time({ source_timezone: \"...\", time: \"...\", target_timezone: \"...\" })
   */
  function convert_time(args: {
    /** Source IANA timezone name (e.g., 'America/New_York', 'Europe/London'). Use 'UTC' as local timezone if no source timezone provided by the user. */
    source_timezone: string;
    /** Time to convert in 24-hour format (HH:MM) */
    time: string;
    /** Target IANA timezone name (e.g., 'Asia/Tokyo', 'America/San_Francisco'). Use 'UTC' as local timezone if no target timezone provided by the user. */
    target_timezone: string;
  }): Promise<{
    source: convert_time_TimeResult;
    target: convert_time_TimeResult;
    time_difference: string;
  }>;
}"
    );
}

/// The text without the contents of comments and strings, split like a compiler does it.
fn code(text: &str) -> String {
    let (mut code, mut rest) = (String::new(), text);
    while let Some(next) = rest.chars().next() {
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").expect("the comment ends").1;
        } else if let Some(mut string) = rest.strip_prefix('"') {
            while !string.starts_with('"') {
                string = string.get(if string.starts_with('\\') { 2 } else { 1 }..).expect("the string ends");
            }
            code.push_str("\"\"");
            rest = &string[1..];
        } else {
            code.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    code
}
