use belljar_model::JsonText;
use serde_json::{Map, json};

use super::*;
use crate::testing::catalog;

/// What a script's author would read about the results of some calls: the type alone.
fn observed(results: &[Value]) -> Observed {
    let mut observed = Observed::default();
    for result in results {
        observed.record(result, &Words::default());
    }
    observed
}

fn declared(observed: &Observed) -> String {
    let catalog = catalog(&[("fs", r#"[{"name": "get"}]"#)]);
    let tool = catalog.lookup("fs.get").expect("the tool");
    let text = tool.declaration_with(Some(observed));
    let (_, result) = text.split_once("Promise<").expect("a result");
    result.strip_suffix(">;\n}").expect("the end").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn results_of_several_calls_make_one_shape() {
    let observed = observed(&[
        json!({"id": 1, "tags": ["a"], "owner": {"name": "x"}}),
        json!({"id": 2, "tags": [], "owner": null, "note": "y"}),
    ]);
    assert_eq!(declared(&observed), "{ id: number; note?: string; owner: { name: string } | null; tags: string[] }");
    assert_eq!(declared(&self::observed(&[json!("text")])), "string");
    assert_eq!(declared(&self::observed(&[json!([]), json!([1, null])])), "(number | null)[]");
}

#[test]
fn a_declaration_says_that_its_result_was_observed_how_often_and_when_it_changed() {
    let catalog = catalog(&[("fs", r#"[{"name": "get"}]"#)]);
    let tool = catalog.lookup("fs.get").expect("the tool");
    let mut observed = Observed::default();
    assert!(observed.record(&json!({"a": 1}), &Words::default()));
    assert!(
        tool.declaration_with(Some(&observed)).contains("* Result type observed in 1 call; the server declares none.")
    );
    assert!(!observed.record(&json!({"a": 2}), &Words::default()));
    assert!(observed.record(&json!({"a": 2, "b": true}), &Words::default()));
    assert!(!observed.record(&json!({"a": 2, "b": true}), &Words::default()));
    let text = tool.declaration_with(Some(&observed));
    assert!(text.contains("observed in 4 calls, last changed by call 3;"), "{text}");
    assert!(text.contains("Promise<{ a: number; b?: boolean }>"), "{text}");
}

#[test]
fn a_declared_result_is_not_replaced_by_an_observed_one() {
    let catalog = catalog(&[("fs", r#"[{"name": "get", "outputSchema": {"properties": {"x": {"type": "string"}}}}]"#)]);
    let tool = catalog.lookup("fs.get").expect("the tool");
    let observed = observed(&[json!({"a": 1})]);
    assert_eq!(tool.declaration_with(Some(&observed)), tool.declaration());
}

#[test]
fn no_value_and_no_data_key_is_ever_kept() {
    let secrets = json!({
        "count": 31337, "owner": "ada lovelace",
        "by_mail": {"ada@example.com": 1, "bob@example.com": 2},
        "by_id": {"u1234": {"n": 1}},
        "by_path": {"/home/ada": true},
        "by_date": {"2026-11-20": [1]},
        "by_uuid": {"6f1c2a9e-aaaa-bbbb-cccc-0123456789ab": null},
        "by_name": {"ada": {"age": 1}, "bob": {"age": 2}, "eve": {"age": 3}},
        "in_many": (0..200_u8).map(|n| (format!("word{}x", char::from(b'a' + n % 26)).repeat(1 + usize::from(n / 26)), json!(n))).collect::<Map<_, _>>(),
        "asked": {"Grace": 7},
        "variables": {"HOME": "x", "PATH": "x", "LANG": "x", "USER": "x", "SHELL": "x", "TERM": "x", "TZ": "x", "PWD": "x"},
    });
    let arguments = json!({"people": ["grace"]});
    let mut observed = Observed::default();
    observed.record(&secrets, &Words::of(&JsonText::from_value(&arguments)));
    let kept = serde_json::to_string(&observed).expect("JSON");
    for data in ["31337", "lovelace", "ada", "bob", "u1234", "home", "2026", "6f1c", "eve", "word", "race", "HOME"] {
        assert!(!kept.contains(data), "{data}: {kept}");
    }
    assert!(kept.contains("\"by_mail\""), "{kept}");
    let text = declared(&observed);
    assert!(text.contains("by_name: { [key: string]: { age: number } }"), "{text}");
}

#[test]
fn names_that_change_from_call_to_call_are_forgotten() {
    let observed = observed(&[json!({"users": {"ada": 1}}), json!({"users": {"bob": 2}})]);
    assert_eq!(declared(&observed), "{ users: { [key: string]: number } }");
    assert!(!serde_json::to_string(&observed).expect("JSON").contains("ada"));
    let rows: Vec<Value> = ('a'..='z').map(|letter| json!({"id": 1, (letter.to_string()): "x"})).collect();
    let observed = self::observed(&[json!(rows)]);
    assert_eq!(declared(&observed), "{ [key: string]: string | number }[]");
}

#[test]
fn a_shape_is_bounded_whatever_comes() {
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!({ "inside": [deep] });
    }
    let wide: Map<String, Value> = ('a'..='z').map(|a| (a.to_string(), json!({"x": {"y": [1]}, "z": 1}))).collect();
    let bushy = json!({"a": wide, "b": {"c": wide, "d": deep}});
    for value in [deep, bushy, json!(vec![json!({"a": 1}); 100_000])] {
        let observed = observed(&vec![value; 3]);
        let kept = serde_json::to_string(&observed).expect("JSON");
        assert!(kept.len() < 64 * 1024, "{} bytes", kept.len());
        assert!(declared(&observed).len() < 32 * 1024);
    }
}

#[test]
fn what_a_file_gives_is_put_into_the_same_bounds() {
    let members = json!({"ada@example.com": {"times": 1, "seen": {"number": true}}});
    let file = json!({"calls": 1, "changed": 9, "shape": {"object": {"members": {"times": 1, "members": members}}}});
    let observed: Observed = serde_json::from_value(file).expect("a shape");
    let observed = observed.checked().expect("it says something");
    assert_eq!(declared(&observed), "{ [key: string]: number }");
    assert!(!serde_json::to_string(&observed).expect("JSON").contains("ada"));
    assert_eq!(Observed::default().checked(), None);
}

#[test]
fn a_declaration_says_that_a_result_is_parsed_from_pythons_notation() {
    let catalog = catalog(&[("db", r#"[{"name": "rows"}]"#)]);
    let tool = catalog.lookup("db.rows").expect("the tool");
    let mut observed = Observed::default();
    assert!(observed.note(Notation::Python) && !observed.note(Notation::Python));
    observed.record(&json!([{"id": 1}]), &Words::default());
    observed.record(&json!("no such table"), &Words::default());
    let text = tool.declaration_with(Some(&observed));
    assert!(text.contains("What comes varies: a text in some calls, an array in others. Its text is in Python's notation, and comes parsed."), "{text}");
    assert!(observed.note(Notation::Other) && observed.writes_other());
    assert!(
        tool.declaration_with(Some(&observed)).contains("is not parsed, since not all are: use tools.parse(text).")
    );
}
