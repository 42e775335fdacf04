//! `tools.parse` as a script sees it.

use belljar_guest_testing::{evaluate, whole};

#[track_caller]
fn gives(rows: &[(&str, &str)]) {
    let mut context = whole();
    for (expression, expected) in rows {
        assert_eq!(evaluate(&format!("JSON.stringify({expression})"), &mut context), *expected, "{expression}");
    }
}

/// What a text is refused with.
fn refusal(expression: &str) -> String {
    evaluate(
        &format!("try {{ {expression}; 'no error' }} catch (error) {{ error.name + ': ' + error.message }}"),
        &mut whole(),
    )
}

#[test]
fn each_notation_is_found_by_itself() {
    gives(&[
        (r#"tools.parse('{"a": [1, null]}')"#, r#"{"a":[1,null]}"#),
        (r"tools.parse('\n 42 ')", "42"),
        (r#"tools.parse('{"a": 1}\n\n{"a": 2}\n')"#, r#"[{"a":1},{"a":2}]"#),
        (
            r#"tools.parse("[{'customer': 'c1', 'paid': True, 'note': None}]")"#,
            r#"[{"customer":"c1","paid":true,"note":null}]"#,
        ),
        (r#"tools.parse("('a', 1)")"#, r#"["a",1]"#),
        (r#"tools.parse("{'a': (), 2: {3}}")"#, r#"{"2":[3],"a":[]}"#),
        (r"tools.parse('name: Ada\nborn: 1815\n')", r#"{"name":"Ada","born":1815}"#),
        (r"tools.parse('a,b\n1,2\n')", r#"[{"a":"1","b":"2"}]"#),
        (r"tools.parse('a: 1', 'keys')", r#"{"a":1}"#),
    ]);
    assert!(refusal("tools.parse('Error: nothing there')").contains("one `key: value` is a sentence"));
}

#[test]
fn integers_that_a_number_cannot_hold_keep_their_digits() {
    gives(&[
        ("tools.parse('[9007199254740993]')", r#"["9007199254740993"]"#),
        (r#"tools.parse("{'id': 9007199254740993}")"#, r#"{"id":"9007199254740993"}"#),
    ]);
}

#[test]
fn front_matter_is_an_object_with_its_body() {
    gives(&[
        (
            r#"tools.parse('---\ntitle: "A: b"\ntags: [x, y]\nof:\n  - 1\n  - two\ndraft: false\nnone:\n---\n\n# Head\n\ntext\n')"#,
            r##"{"title":"A: b","tags":["x","y"],"of":[1,"two"],"draft":false,"none":null,"body":"# Head\n\ntext"}"##,
        ),
        (
            r#"tools.parse("url: http://x.y/z\nq: 'it''s'\nv: 1.2.3\n")"#,
            r#"{"url":"http://x.y/z","q":"it's","v":"1.2.3"}"#,
        ),
    ]);
    assert!(refusal(r"tools.parse('---\na: 1\n', 'keys')").contains("the second line of `---` is missing"));
    assert!(refusal(r"tools.parse('a: 1\na: 2', 'keys')").contains("a key that was there before (line 2, column 1)"));
    assert!(refusal(r"tools.parse('a:\n  b: 1', 'keys')").contains("no `key: value` (line 2, column 1)"));
}

#[test]
fn csv_has_quotes_and_several_separators() {
    gives(&[
        (r#"tools.parse('a,"b c"\n"x, ""y""\nz",\r\n')"#, r#"[{"a":"x, \"y\"\nz","b c":""}]"#),
        (r"tools.parse('a;b\n1,5;2\n')", r#"[{"a":"1,5","b":"2"}]"#),
        (r"tools.parse('a\tb\n1\t2')", r#"[{"a":"1","b":"2"}]"#),
        (r"tools.parse('a,a,\n1,2,3')", r#"[{"a":"1","a_2":"2","column_3":"3"}]"#),
        (r"tools.parse('a\n1\n2', 'csv')", r#"[{"a":"1"},{"a":"2"}]"#),
        (r"tools.parse('a,b', 'csv')", "[]"),
        ("tools.parse('', 'csv')", "[]"),
    ]);
    assert!(refusal(r"tools.parse('a,b\n1,2\n\n1,2,3', 'csv')").contains("3 values for 2 names (line 4, column 1)"));
    assert!(refusal(r#"tools.parse('a,b\n1,"2', 'csv')"#).contains("a quote is never closed (line 2, column 1)"));
    assert!(refusal(r#"tools.parse('a,b\n"1"x,2', 'csv')"#).contains("text follows a closing quote (line 2"));
}

#[test]
fn what_is_in_no_notation_says_what_was_tried_and_where_it_failed() {
    assert_eq!(
        refusal(r#"tools.parse("[{'when': datetime.date(2024, 1, 2)}]")"#),
        "SyntaxError: tools.parse: the text is in no notation that it knows (JSON: Unexpected token ''' in JSON (line 1, column 3); \
         JSON lines: Unexpected token ''' in JSON (line 1, column 3); Python's notation: a name that is not None, True or False \
         (line 1, column 11); lines of `key: value`: no `key: value` (line 1, column 1); CSV: one line is not a table (line 1, column 1))"
    );
    assert!(refusal("tools.parse('some words.')").contains("CSV: one column is not a table"));
    assert!(
        refusal("tools.parse('[1', 'json')")
            .contains("the text is not JSON: Unexpected end of JSON input (line 1, column 3)")
    );
    assert!(refusal("tools.parse('1', 'yaml')").starts_with("TypeError: tools.parse knows no notation \"yaml\""));
    assert_eq!(refusal("tools.parse()"), "TypeError: tools.parse takes a text, and got undefined");
    assert_eq!(refusal("tools.parse(Promise.resolve('1'))"), "TypeError: tools.parse takes a text, and got a promise");
}

#[test]
fn what_is_no_text_is_data_already() {
    gives(&[("tools.parse([{ a: 1 }])", r#"[{"a":1}]"#), ("tools.parse(null)", "null"), ("tools.parse(5)", "5")]);
}

#[test]
fn deep_and_long_texts_are_read_or_refused_and_never_worse() {
    let mut context = whole();
    let script = r#"
        const tries = [
            '['.repeat(100000), '('.repeat(100000), "{'a':".repeat(100000), '[' + '1,'.repeat(50000) + '1]',
            '['.repeat(90) + '(1,),'.repeat(1000) + ']'.repeat(90), 'a,b\n' + '1,2\n'.repeat(20000), 'k: v\n'.repeat(10000),
            '"'.repeat(100001), "'" + '\\'.repeat(100001), ','.repeat(100000) + '\n' + ','.repeat(100000),
        ];
        tries.map((text) => { try { return typeof tools.parse(text) } catch (error) { return error.name } }).join()"#;
    let found = evaluate(script, &mut context);
    assert_eq!(
        found,
        "SyntaxError,SyntaxError,SyntaxError,object,object,object,SyntaxError,SyntaxError,SyntaxError,object"
    );
}
