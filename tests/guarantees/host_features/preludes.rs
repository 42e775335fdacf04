//! Code that a host runs before the script, of which the script's author knows nothing.

use belljar_model::{ErrorKind, FailedIn, Limits};
use belljar_sandbox::Program;
use serde_json::json;

use super::{error, host, outcome, outcome_within, value};

/// Puts a closure on the namespace, and replaces a tool with another closure.
const STEPS: &str = "
const taken = [];
function helper(x) { return x + 1 }
host.step = async (name, fn) => { taken.push(name); return fn ? await fn() : host.take(name) };
host.give = () => 'from the prelude';
";

fn with(prelude: &str, script: &str) -> Program {
    Program::new(script).with_prelude(prelude)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prelude_adds_closures_to_namespaces_before_they_are_frozen() {
    let script =
        "[await host.step('a', () => 1), await host.step('b'), host.give(), taken, helper(1), Object.keys(host)]";
    let keys = json!(["step", "give", "take"]);
    let mut found = value(with(STEPS, script), host(Vec::new())).await;
    let sort = |list: &mut serde_json::Value| list.as_array_mut().unwrap().sort_by_key(ToString::to_string);
    let mut keys = keys;
    sort(&mut keys);
    sort(&mut found[5]);
    assert_eq!(found, json!([1, ["b"], "from the prelude", ["a", "b"], 2, keys]));
    for change in
        ["host.other = 1", "host.step = 1", "delete host.step", "Object.defineProperty(host, 'x', { value: 1 })"]
    {
        let error = error(with(STEPS, change), host(Vec::new())).await;
        assert!(error.message.contains("frozen"), "{change}: {}", error.message);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prelude_cannot_hide_a_getter_in_a_namespace() {
    let prelude = "Object.defineProperty(host, 'now', { get() { return 1 } })";
    let error = error(with(prelude, "host.now"), host(Vec::new())).await;
    assert!(error.message.contains("a getter or a setter"), "{}", error.message);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lines_of_a_prelude_are_not_counted() {
    let error = error(with(STEPS, "const a = 1\nthrow new Error('here')"), host(Vec::new())).await;
    assert_eq!((error.line, error.column), (Some(2), Some(7)));
    assert!(error.frame.is_some_and(|frame| frame.contains("throw new Error")));
    // If it fails in a closure of the prelude, the script's own line is reported.
    let error =
        super::error(with("host.bad = () => { throw new TypeError('inside') }", "1\nhost.bad()"), host(Vec::new()))
            .await;
    assert_eq!((error.line, error.thrown.map(|thrown| thrown.message)), (Some(2), Some("inside".to_owned())));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_prelude_adds_is_not_refused_before_the_script_runs() {
    // As if it were a missing tool, a promise, or an undeclared name.
    let prelude = "host.now = () => 3; const limit = 2; var open = true; globalThis.set = 1";
    assert_eq!(
        value(with(prelude, "if (host.now() > limit && open) return host.now() + set"), host(Vec::new())).await,
        json!(4)
    );
    let error = error(with(prelude, "await limits.get({})"), host(Vec::new())).await;
    assert!(error.message.contains("limits is not defined"), "{}", error.message);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prelude_that_fails_says_that_it_is_not_the_script() {
    for (prelude, kind, line, says) in [
        ("const a = ;", ErrorKind::Syntax, "", "SyntaxError"),
        ("const a = 1\nnull.x", ErrorKind::Exception, " in line 2", "TypeError"),
        ("const a = 1\n\nthrow new RangeError('mine')", ErrorKind::Exception, " in line 3", "RangeError: mine"),
        ("throw 'a text'", ErrorKind::Exception, "", "a text"),
        ("host.then = 1", ErrorKind::Exception, " in line 1", "frozen"),
    ] {
        let error = error(with(prelude, "1"), host(Vec::new())).await;
        assert_eq!(error.kind, kind, "{prelude}: {error:#?}");
        assert!(
            error.message.starts_with(&format!("the host's prelude failed{line}: ")),
            "{prelude}: {}",
            error.message
        );
        assert!(error.message.contains(says), "{prelude}: {}", error.message);
        assert_eq!((error.line, error.frame.clone()), (None, None), "{prelude}");
        assert_eq!(error.failed_in, Some(FailedIn::Prelude), "{prelude}");
    }
    // Errors after it are the script's, even in a function that the prelude has made.
    for script in ["const a = ;", "null.x", "host.step('a', () => { throw 1 })", "host.nothing()"] {
        let error = error(with(STEPS, script), host(Vec::new())).await;
        assert_eq!(error.failed_in, None, "{script}: {error:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prelude_has_the_limits_of_its_run() {
    let limits = Limits { fuel: 50_000_000, ..Limits::default() };
    let endless = outcome_within(with("for (;;) {}", "1"), host(Vec::new()), &limits).await;
    let error = endless.result.expect_err("it is endless");
    assert_eq!((error.kind, error.failed_in), (ErrorKind::Fuel, Some(FailedIn::Prelude)));
    let endless = outcome_within(with("host.a = 1", "for (;;) {}"), host(Vec::new()), &limits).await;
    assert_eq!(endless.result.expect_err("it is endless").failed_in, None);
    let long = with(&" ".repeat(usize::try_from(Limits::default().max_source.as_u64()).unwrap() + 1), "1");
    for engine in super::engines().await {
        let refused = engine.run(long.clone()).await.result.expect_err("it is too long");
        assert_eq!(refused.kind, ErrorKind::Usage);
        assert!(refused.message.contains("the prelude has"), "{}", refused.message);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prelude_changes_its_own_run_and_no_other() {
    let hostile =
        "Object.prototype.toJSON = () => 'mine'; Array.prototype.map = 1; delete globalThis.JSON; host.take = () => 7";
    let first = outcome(with(hostile, "[host.take(), typeof JSON]"), host(Vec::new())).await;
    assert!(first.is_ok(), "{first:#?}");
    assert_eq!(value("[1].map((x) => x)", host(Vec::new())).await, json!([1]));
}
