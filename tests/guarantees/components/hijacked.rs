//! A process of a component that was taken over can say what it likes, but gets no further than
//! what the component imports.

use std::{collections::BTreeMap, sync::Arc};

use belljar_catalog::wit::mark;
use belljar_gateway::{ComponentJob, Gateway, SkillFolder, Skills};
use belljar_model::{ErrorKind, Limits, LimitsPatch, Outcome, ServerSpec, ToolPath, Transport};
use belljar_policy::{Policy, absolute_folder};
use belljar_upstream::Caller;
use belljar_worker::WorkerProgram;
use futures::FutureExt as _;
use serde_json::{Value, json};

use crate::{
    dead_children::child,
    stub_server::{Stub, gateway, text, toolbox_of},
    support::sandbox,
};

/// Two servers, of which the component imports one tool.
fn servers() -> (Gateway, Stub, Stub) {
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    let kit = Stub::new(json!([tool("read"), tool("hidden")]), |name, _| text(name));
    let other = Stub::new(json!([tool("secret")]), |name, _| text(name));
    (gateway(&[("kit", kit.clone()), ("other", other.clone())], Vec::new()), kit, other)
}

/// A function of a tool of the server, as an import.
fn imported(tool: &str) -> Value {
    json!({ "name": tool, "mark": mark(&ToolPath::new("kit", tool)) })
}

/// What the process heard, and how the run ended. It claims that the component imports this
/// function of the server, and asks about a path.
async fn hijacked(gateway: &Gateway, function: &str, path: &str) -> (BTreeMap<String, String>, Outcome) {
    let interface = json!({ "import": "belljar:mcp-kit/tools@0.1.0", "package": "mcp-kit", "is_async": false,
        "functions": [imported(function)] });
    importing(gateway, &json!({ "interfaces": [interface], "run": { "takes_input": false } }), path).await
}

/// The same with everything that it claims to import.
async fn importing(gateway: &Gateway, imports: &Value, path: &str) -> (BTreeMap<String, String>, Outcome) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("heard");
    let arguments = vec!["hijacked".into(), file.clone().into(), imports.to_string().into(), path.into()];
    let program = WorkerProgram { program: child().to_owned(), arguments };
    let job = ComponentJob { program, file: b"anything".to_vec(), input: None };
    let never = std::future::pending().boxed();
    let outcome = gateway.run_component(&job, &LimitsPatch::default(), Caller::default(), never).await;
    let heard = std::fs::read_to_string(&file).unwrap();
    let line = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        (line["asked"].as_str().unwrap().to_owned(), line["heard"].as_str().unwrap().to_owned())
    };
    (heard.lines().map(line).collect(), outcome)
}

#[tokio::test(flavor = "multi_thread")]
async fn it_can_call_only_what_was_granted_and_sees_nothing_else() {
    let (gateway, kit, other) = servers();
    for path in ["other.secret", "kit.hidden"] {
        let (heard, outcome) = hijacked(&gateway, "read", path).await;
        assert!(heard.len() >= 13, "{heard:#?}\n{outcome:#?}");
        for (asked, heard) in &heard {
            // An answer may name what was asked for. The order to run contains the whole list of a
            // server, from which the names of functions come.
            let told = heard.replace(path, "");
            assert!(!told.contains("secret"), "{asked}: {heard}");
            assert!(asked == "run" || !told.contains("hidden"), "{asked}: {heard}");
        }
        assert!(!heard["run"].contains("other"), "it does not even know of the other server: {}", heard["run"]);
        assert!(heard["list"].contains("kit.read") && heard["search"].contains("kit.read"), "{heard:#?}");
        for (asked, part) in [
            ("describe", "there is no tool"),
            ("list of other", "there is no server"),
            ("route", "nothing to choose"),
            ("artifacts", "nothing is kept"),
            ("keep", "nothing is kept"),
            ("directory 1", "there is no namespace 1"),
            ("directory 2", "there is no namespace 2"),
        ] {
            assert!(heard[asked].contains(part), "{asked}: {}", heard[asked]);
        }
        assert!(heard["directory 0"].contains("read") && !heard["directory 0"].contains("hidden"), "{heard:#?}");
        // The one call is made; the other ends the process, which hears nothing more.
        assert!(heard["call"].contains("read") && !heard.contains_key("other call"), "{heard:#?}");
        let error = outcome.result.expect_err("its process was ended");
        assert_eq!(error.kind, ErrorKind::Internal, "{error:?}");
        let calls: Vec<&str> = outcome.calls.iter().map(|call| call.tool.as_str()).collect();
        assert_eq!(calls, ["read"]);
    }
    let reached = |stub: &Stub| stub.calls.load(std::sync::atomic::Ordering::SeqCst);
    assert_eq!((reached(&kit), reached(&other)), (2, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn that_it_may_find_any_tool_leads_around_no_rule_and_to_no_script() {
    let (_, kit, other) = servers();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("payout.js"), "export default () => 1").unwrap();
    let rules = "default = 'allow'\n[[rule]]\nid = 'mine'\ntools = 'kit.hidden'\nthen = 'deny'\n";
    let rules = Policy::parse(rules, &absolute_folder).unwrap_or_else(|problems| panic!("{problems}"));
    let specs: Vec<_> =
        ["kit", "other"].map(|name| ServerSpec::new(name, Transport::BuiltIn(name.to_owned()))).into_iter().collect();
    let toolbox = toolbox_of(&[("kit", kit.clone()), ("other", other.clone())], Vec::new(), |_| {})
        .with_policy(Arc::new(rules), &specs)
        .with_skills(Skills::new(vec![SkillFolder { path: folder.path().to_owned(), is_named: true }]));
    let gateway = Gateway::new(Arc::new(toolbox), sandbox().clone(), Limits::default());
    let found = json!({ "import": "belljar:sandbox/tools@0.2.0", "is_async": false, "functions": ["find", "[method]tool.call"] });
    let imports = json!({ "interfaces": [], "any_tool": [found], "run": { "takes_input": false } });
    let (heard, outcome) = importing(&gateway, &imports, "skills.payout").await;
    for (asked, heard) in &heard {
        let told = heard.replace("skills.payout", "");
        assert!(!told.contains("payout"), "{asked}: {heard}");
    }
    // Whatever a script could call is granted. A tool that a rule denies to everybody does not
    // exist, and asking for it anyway ends the process.
    assert!(heard["directory 0"].contains("read") && !heard["directory 0"].contains("hidden"), "{heard:#?}");
    assert!(heard["directory 1"].contains("secret"), "{heard:#?}");
    assert!(heard["directory 2"].contains("there is no namespace 2"), "{heard:#?}");
    assert!(heard["call"].contains("read") && !heard.contains_key("other call"), "{heard:#?}");
    for (asked, part) in [("route", "nothing to choose"), ("artifacts", "nothing is kept"), ("keep", "nothing is kept")]
    {
        assert!(heard[asked].contains(part), "{asked}: {}", heard[asked]);
    }
    assert_eq!(outcome.result.expect_err("its process has ended").kind, ErrorKind::Internal);
    let calls: Vec<_> = outcome.calls.iter().map(|call| (call.tool.as_str(), call.ok)).collect();
    assert_eq!(calls, [("read", true)]);
    let reached = |stub: &Stub| stub.calls.load(std::sync::atomic::Ordering::SeqCst);
    assert_eq!((reached(&kit), reached(&other)), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_it_says_of_imports_is_held_against_what_there_is() {
    let (gateway, kit, _) = servers();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("heard");
    for (imports, part) in [
        (
            json!({ "interfaces": [{ "import": "x", "package": "mcp-kit", "is_async": false, "functions": [imported("gone")] }], "run": { "takes_input": false } }),
            "gone",
        ),
        (
            json!({ "interfaces": [{ "import": "x", "package": "mcp-nobody", "is_async": false, "functions": [imported("read")] }], "run": { "takes_input": false } }),
            "no server",
        ),
        (json!({ "interfaces": "all" }), "JSON"),
    ] {
        let arguments = vec!["hijacked".into(), file.clone().into(), imports.to_string().into(), "x".into()];
        let program = WorkerProgram { program: child().to_owned(), arguments };
        let job = ComponentJob { program, file: Vec::new(), input: None };
        let never = std::future::pending().boxed();
        let outcome = gateway.run_component(&job, &LimitsPatch::default(), Caller::default(), never).await;
        let error = outcome.result.expect_err("it is refused");
        assert!(error.message.contains(part), "{part}: {error:?}");
    }
    assert_eq!(kit.calls.load(std::sync::atomic::Ordering::SeqCst), 0);
}
