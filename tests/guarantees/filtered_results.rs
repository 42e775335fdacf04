//! Results are filtered as the owner's configuration says, and a filter that fails costs only its
//! own result.

use std::{fs, time::Instant};

use serde_json::{Value, json};

use crate::{
    dead_children::child,
    support::{Answer, Terminal},
};

/// A terminal with the demo and a child that returns its arguments, whose results are filtered.
struct Filtered {
    terminal: Terminal,
    config: String,
}

impl Filtered {
    fn new(results: &str) -> Self {
        let terminal = Terminal::new();
        let text = format!(
            "[servers.demo]\nbuiltin = 'demo'\n[servers.kid]\ncommand = {:?}\nargs = ['echo']\n{results}",
            child().to_str().unwrap()
        );
        let config = terminal.file("belljar.toml", text).to_str().unwrap().to_owned();
        Self { terminal, config }
    }

    fn belljar(&self, arguments: &[&str]) -> Answer {
        self.terminal.belljar(&[arguments, &["--config", &self.config]].concat())
    }

    fn value(&self, script: &str) -> Value {
        let outcome = self.belljar(&["run", "--json", "--code", script]).json();
        assert_eq!(outcome["ok"], true, "{outcome:#}");
        outcome["value"].clone()
    }
}

const OF_DEMO: &str = "[servers.demo.results]\nlist_projects = '.projects[] | {name}'\nget_issue = '.title'\n";

#[test]
fn a_script_gets_what_the_filter_gives_and_tools_raw_has_the_whole_result() {
    let whole = Filtered::new("").value("(await demo.list_projects({})).projects");
    let names: Vec<Value> =
        whole.as_array().unwrap().iter().map(|project| json!({ "name": project["name"] })).collect();
    assert!(names.len() > 1);
    let filtered = Filtered::new(OF_DEMO);
    let script = "
        const [names, title, raw] = await Promise.all([
            demo.list_projects({}), demo.get_issue({ id: 40 }), tools.raw('demo.list_projects', {}),
        ]);
        const { declaration, signature, outputSchema } = await tools.describe('demo.list_projects');
        return { names, title, raw, declaration, signature, schema: outputSchema ?? null };";
    let found = filtered.value(script);
    assert_eq!(
        (&found["names"], &found["title"]),
        (&json!(names), &json!("Memory of the tile server doubles every week"))
    );
    let raw = &found["raw"];
    assert_eq!((&raw["structuredContent"], &raw["_meta"]["belljar/filtered"]), (&json!(names), &json!(true)));
    assert_eq!(raw["_meta"]["belljar/unfiltered"]["projects"], whole);
    assert!(raw["content"].is_array(), "{raw:#}");
    let declaration = found["declaration"].as_str().unwrap();
    assert!(declaration.contains("result filtered by .projects[] | {name}; tools.raw has the whole"), "{declaration}");
    assert!(found["signature"].as_str().unwrap().contains("/* filtered */>"), "{found:#}");
    assert_eq!(found["schema"], Value::Null, "what the server declares is not what a script gets");

    // The type that was learned from calls is that of the filtered result.
    let later = filtered.value("return (await tools.describe('demo.list_projects')).declaration");
    let later = later.as_str().unwrap();
    assert!(later.contains("observed in 2 calls") && later.contains("{ name: string }[]"), "{later}");

    let called = filtered.belljar(&["call", "demo.get_issue", "--input", r#"{"id": 40}"#, "--json"]).json();
    assert_eq!(called["value"], found["title"], "{called:#}");
    assert_eq!(called["raw"]["_meta"]["belljar/unfiltered"]["id"], 40, "{called:#}");
    let printed = filtered.belljar(&["typescript", "demo.get_issue"]).stdout;
    assert!(printed.contains("result filtered by .title") && printed.contains("Promise<unknown>"), "{printed}");
}

/// A filter that goes wrong in the way that its value names.
const HOSTILE: &str = r#"[servers.kid.results]
echo = '''
def forever: forever;
def deep: 1 + deep;
if .mode == "loop" then forever
elif .mode == "deep" then deep
elif .mode == "big" then ("x" * 50000000)
elif .mode == "memory" then [limit(1000000000; repeat("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"))] | length
elif .mode == "many" then range(10000000)
elif .mode == "odd" then .mode.a
elif .mode == "null" then .nothing
elif .mode == "nan" then nan
elif .mode == "none" then empty
else .value end
'''
fail = '"filtered"'
"#;

#[test]
fn a_filter_that_goes_wrong_is_stopped_and_the_script_gets_the_whole_result() {
    let filtered = Filtered::new(HOSTILE);
    let modes = ["loop", "deep", "big", "memory", "many", "odd", "null"];
    let script = format!(
        "const found = {{}};
         let late = 3;
         for (const mode of {modes:?}) {{
             found[mode] = (await kid.echo({{ mode, value: 1 }})).mode;
             let next = await kid.echo({{ value: [mode] }});
             // A new process that takes long to start costs a result its filter.
             while (late > 0 && !Array.isArray(next)) {{
                 late--;
                 next = await kid.echo({{ value: [mode] }});
             }}
             found[mode + ' and then'] = next;
         }}
         found.none = await kid.echo({{ mode: 'none' }});
         found.large = (await kid.echo({{ value: 'x'.repeat(1e6) }})).length;
         found.failed = await kid.fail({{}}).catch((error) => error.name);
         return found;"
    );
    let begun = Instant::now();
    let outcome = filtered.belljar(&["run", "--json", "--timeout", "100s", "--code", &script]).json();
    assert_eq!(outcome["ok"], true, "{outcome:#}");
    let mut expected = json!({ "none": [], "large": 1_000_000, "failed": "ToolError" });
    for mode in modes {
        expected[mode] = json!(mode);
        expected[format!("{mode} and then")] = json!([mode]);
    }
    assert_eq!(outcome["value"], expected, "{outcome:#}");
    assert!(begun.elapsed().as_secs() < 60, "each filter has two seconds");
    let logs = outcome["logs"].to_string();
    for said in [
        "results of kid.echo was not used, and the result is whole: it had not ended after 2 s",
        "it ended its process, which may have 2 GiB of memory and 64 MiB of stack",
        "the filter gives more than 65536 bytes",
        "the filter failed: ",
        "it gave null; `// []` after a filter",
    ] {
        assert!(logs.contains(said), "{said}: {logs}");
    }
}

#[test]
fn a_wrong_filter_is_refused_when_the_configuration_is_read() {
    for (filter, said) in [
        (".a[", "'results.echo' of server 'kid': the filter is wrong at column 4"),
        (".a | lenght", "the filter is wrong at column 6: there is no filter 'lenght'"),
        ("include \"a\"; .", "the filter wants the file 'a'"),
    ] {
        let filtered = Filtered::new(&format!("[servers.kid.results]\necho = '{filter}'\n"));
        for command in [&["run", "--code", "1"][..], &["search", "echo"], &["doctor"]] {
            let refused = filtered.belljar(command);
            let told = format!("{}{}", refused.stdout, refused.stderr);
            assert!(refused.code == 2 && told.contains(said) && told.contains("belljar.toml"), "{refused:#?}");
        }
    }
    // No nesting crashes the parser of filters.
    let nested = format!("{}.{}", "(".repeat(8_000), ")".repeat(8_000));
    let filtered = Filtered::new(&format!("[servers.kid.results]\necho = '{nested}'\n"));
    let ran = filtered.belljar(&["run", "--code", "1"]);
    assert!(ran.code == 0 || ran.code == 2, "{ran:#?}");
}

#[test]
fn a_run_over_filtered_results_is_repeated_exactly_without_the_filter() {
    let filtered = Filtered::new(&format!("{OF_DEMO}{HOSTILE}"));
    let script = "
        const odd = await kid.echo({ mode: 'odd' });
        return [await demo.list_projects({}), odd.mode, (await tools.raw('demo.get_issue', { id: 40 }))._meta];";
    let file = filtered.terminal.folder.path().join("run.belljar");
    let record = file.to_str().unwrap();
    let ran = filtered.belljar(&["run", "--json", "--record", record, "--code", script]).json();
    assert_eq!((&ran["ok"], &ran["value"][1]), (&json!(true), &json!("odd")), "{ran:#}");
    assert!(ran["logs"].to_string().contains("was not used"), "{ran:#}");
    fs::remove_file(&filtered.config).unwrap();
    let replayed = filtered.terminal.belljar(&["replay", record, "--json"]).json();
    let outcome = replayed.get("outcome").unwrap_or(&replayed);
    assert_eq!((&outcome["ok"], &outcome["value"]), (&json!(true), &ran["value"]), "{replayed:#}");
    assert_eq!(outcome["usage"]["fuel"], ran["usage"]["fuel"], "{replayed:#}");
}
