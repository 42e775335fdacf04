//! A call of a server that has projects goes to the instance of the project that it names, or that
//! its words mean, or to all of them.

mod corpus;

use std::fs;

use serde_json::{Value, json};

use crate::{
    dead_children::child,
    real_servers::{installed, node},
    support::{Answer, Terminal},
};

/// Two projects with folders, of which `core` has a folder of another name, and one without.
const PROJECTS: &str = "key = '{project}'
instances = 4
paths = { guidance = 'Projects are listed in the wiki.' }
[servers.kid.projects.web]
path = 'repos/web'
languages = ['TypeScript']
concerns = ['checkout', 'layout']
hints = ['landing page']
[servers.kid.projects.core]
path = 'repos/core-service'
languages = ['Go']
concerns = ['handler']
hints = ['REST API', 'c++ (.*) [a-z]+$']
[servers.kid.projects.docs]
hints = ['handbook']
";

/// A terminal with the folders, and the configuration of a server that reports how it was started.
fn terminal(projects: &str) -> (Terminal, String) {
    let terminal = Terminal::new();
    for folder in ["repos/web/src", "repos/core-service", "elsewhere"] {
        fs::create_dir_all(terminal.folder.path().join(folder)).unwrap();
    }
    let server =
        format!("[servers.kid]\ncommand = '{}'\nargs = ['stateful', '--project={{key}}']\n", child().display());
    let config = terminal.file("belljar.toml", server + projects).to_str().unwrap().to_owned();
    (terminal, config)
}

fn run(terminal: &Terminal, config: &str, script: &str) -> Value {
    terminal.belljar(&["run", "--json", "--config", config, "--code", script]).json()
}

fn value(terminal: &Terminal, config: &str, script: &str) -> Value {
    let mut outcome = run(terminal, config, script);
    assert_eq!(outcome["ok"], true, "{outcome:#}");
    outcome["value"].take()
}

fn routed(terminal: &Terminal, config: &str, words: &str) -> Answer {
    terminal.belljar(&["route", "--json", "--config", config, "kid", words])
}

/// A folder as the configuration names it.
fn at(terminal: &Terminal, folder: &str) -> String {
    terminal.folder.path().join(folder).to_str().unwrap().to_owned()
}

#[test]
fn a_name_a_path_in_the_project_and_words_lead_to_one_instance() {
    let (terminal, config) = terminal(PROJECTS);
    let inside = at(&terminal, "repos/core-service/new/file.go");
    let script = format!(
        "const all = [];
         for (const of of [{{ project: 'core' }}, {{ project: {} }}, {{ context: 'Asset handler in the REST API, in Go' }}])
             all.push(await kid.started(of));
         all.push(await kid.started({{ context: 'the handbook' }}), await kid.path({{ project: 'web', other: 1 }}));
         return all;",
        json!(inside)
    );
    let all = value(&terminal, &config, &script);
    let started_with = json!([format!("--project={}", at(&terminal, "repos/core-service"))]);
    for started in [&all[0], &all[1], &all[2]] {
        assert_eq!(started["arguments"], started_with, "{all:#}");
        assert_eq!(started["pid"], all[0]["pid"], "one instance for one project");
        assert_eq!(started["call"], json!({}), "the server knows nothing of how it was chosen");
    }
    assert_eq!(all[3]["arguments"], json!(["--project=docs"]), "without a folder, the name is all that there is");
    assert_eq!(all[4], json!({ "other": 1 }));
}

#[test]
fn the_folder_of_a_request_leads_to_the_project_that_it_is_in() {
    let (terminal, config) = terminal(PROJECTS);
    let ask = |root: String, params: Value| {
        let request = json!({
            "intent": "EXECUTE", "action": "kid.started", "params": params, "context": { "project_root": root },
        });
        let file = terminal.file("request.json", request.to_string());
        terminal.belljar(&["request", "--config", &config, file.to_str().unwrap()]).json()
    };
    let core = json!([format!("--project={}", at(&terminal, "repos/core-service"))]);
    let inside = at(&terminal, "repos/core-service/new");
    let answer = ask(inside.clone(), json!({}));
    assert_eq!(answer["result"]["data"]["arguments"], core, "{answer:#}");
    assert_eq!(answer["meta"]["project_root"], inside, "{answer:#}");
    // What the request itself says takes precedence.
    let answer = ask(inside, json!({ "context": "the landing page" }));
    assert_eq!(answer["result"]["data"]["arguments"], json!([format!("--project={}", at(&terminal, "repos/web"))]));
    assert_eq!(answer["meta"].get("project_root"), None, "{answer:#}");
    // A folder in no project chooses none.
    assert_eq!(ask(at(&terminal, "elsewhere"), json!({}))["ok"], false);
}

#[test]
fn words_that_fit_no_project_go_to_the_default_or_fail_with_the_scores() {
    let (terminal, config) = terminal(PROJECTS);
    let script =
        "return kid.started({ context: 'a handler in Go' }).catch((error) => `${error.message}\\n${error.hint}`)";
    let refused = value(&terminal, &config, script);
    let text = refused.as_str().unwrap();
    let score = "no project has the score of 10 that these words need: core 8 (concern handler +5, language Go +3)";
    assert!(text.contains(score) && text.contains("the projects are web, core, docs"), "{text}");
    let answer = routed(&terminal, &config, "a handler in Go");
    assert_eq!((answer.code, &answer.json()["project"]), (1, &Value::Null));

    let with_default = format!("{PROJECTS}default = true\n");
    fs::write(&config, fs::read_to_string(&config).unwrap().replace(PROJECTS, &with_default)).unwrap();
    let started =
        value(&terminal, &config, "return [await kid.started({ context: 'a handler in Go' }), await kid.started({})]");
    assert_eq!(started[0]["arguments"], json!(["--project=docs"]));
    assert_eq!(started[1]["pid"], started[0]["pid"], "a call that says nothing goes there too");
    let answer = routed(&terminal, &config, "a handler in Go");
    assert_eq!((answer.code, &answer.json()["project"], &answer.json()["by"]), (0, &json!("docs"), &json!("default")));
}

#[test]
fn a_script_and_the_command_are_told_the_same_parts_of_the_sum() {
    let (terminal, config) = terminal(PROJECTS);
    let words = "the landing page's checkout in TypeScript, not in Go";
    let told = routed(&terminal, &config, words).json();
    let expected = json!({
        "server": "kid", "project": "web", "by": "score", "threshold": 10, "more": 0,
        "scores": [
            { "project": "web", "score": 18, "parts": [
                { "part": "hint", "word": "landing page", "points": 10 },
                { "part": "concern", "word": "checkout", "points": 5 },
                { "part": "language", "word": "TypeScript", "points": 3 },
            ] },
            { "project": "core", "score": 3, "parts": [{ "part": "language", "word": "Go", "points": 3 }] },
        ],
    });
    assert_eq!(told, expected);
    let script = format!(
        "const unknown = (() => {{ try {{ tools.route('kit', 'x') }} catch (error) {{ return error.message }} }})();
         return [tools.route('kid', {}), tools.route('kid'), unknown];",
        json!(words)
    );
    let asked = value(&terminal, &config, &script);
    assert_eq!(asked[0], expected);
    assert_eq!(asked[1], json!({ "server": "kid", "argument": "project", "projects": ["web", "core", "docs"] }));
    assert_eq!(asked[2], "there is no server 'kit': did you mean 'kid'?");
    let shown = terminal.belljar(&["route", "--config", &config, "kid", "the", "landing", "page"]);
    assert_eq!((shown.code, shown.stdout.as_str()), (0, "web\n"));
    assert!(shown.stderr.contains("web 10 (hint landing page +10)"), "{}", shown.stderr);
}

#[test]
fn a_run_that_was_routed_is_replayed_exactly_and_without_its_server() {
    let (terminal, config) = terminal(PROJECTS);
    let recording = at(&terminal, "run.belljar");
    let script = "const { project } = tools.route('kid', 'the handbook');
        const all = await kid.path({ projects: 'all', other: 2 });
        return [project, all, await kid.path({ context: 'landing page', other: 3 })];";
    let run =
        terminal.belljar(&["run", "--json", "--config", &config, "--record", &recording, "--code", script]).json();
    assert_eq!(run["ok"], true, "{run:#}");
    let others = json!({ "value": { "other": 2 } });
    assert_eq!(run["value"], json!(["docs", { "web": others, "core": others, "docs": others }, { "other": 3 }]));
    // Nobody knows the projects any more.
    fs::write(&config, "[servers.kid]\ncommand = '/nowhere'\n").unwrap();
    let replayed = terminal.belljar(&["replay", "--json", "--config", &config, &recording]).json();
    assert_eq!((&replayed["ok"], &replayed["value"]), (&json!(true), &run["value"]), "{replayed:#}");
    assert_eq!(replayed["usage"]["fuel"], run["usage"]["fuel"]);
    let fixture = at(&terminal, "run.belljar.jsonl");
    let made = terminal.belljar(&["replay", "--config", &config, &recording, "--fixture", &fixture]);
    assert_eq!(made.code, 0, "{made:#?}");
    let tested = terminal.belljar(&["test", "--config", &config, &fixture]);
    assert_eq!(tested.code, 0, "{tested:#?}");
    assert!(fs::read_to_string(&fixture).unwrap().contains("\"route\""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_confined_engine_asks_for_routes_as_for_anything_else() {
    let (terminal, config) = terminal(PROJECTS);
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("[runs]\nprocess = true\n{text}")).unwrap();
    let script = "return [tools.route('kid', 'the handbook').project, tools.route('kid').projects,
        Object.keys(await kid.path({ projects: 'all' }))]";
    let names = json!(["web", "core", "docs"]);
    assert_eq!(value(&terminal, &config, script), json!(["docs", names, names]));
}

#[test]
fn a_tools_own_arguments_of_these_names_stay_its_own() {
    let terminal = Terminal::new();
    let schema = json!({ "type": "object", "properties": { "context": { "type": "string" }, "projects": { "type": "string" } } });
    let list = json!([
        { "name": "own", "inputSchema": schema },
        { "name": "read-notes", "inputSchema": { "type": "object" } },
    ]);
    let list = terminal.file("tools.json", list.to_string());
    let config = format!(
        "[servers.kid]\ncommand = '{}'\nargs = ['listed', '{}']\n{PROJECTS}",
        child().display(),
        list.display()
    );
    let config = terminal.file("belljar.toml", config).to_str().unwrap().to_owned();
    let script = "const calls = [];
        for (const of of [{ project: 'web', context: 'theirs', projects: 'all' }, { context: 'the handbook' }])
            calls.push(await kid.own(of).then(() => 'sent', (error) => error.message));
        return [...calls, await kid.read_notes({ projects: 'all' })]";
    let calls = value(&terminal, &config, script);
    assert_eq!(calls[1], "kid.own: it needs 'project', or 'context' with words", "{calls:#}");
    assert_eq!(calls[0], "sent");
    assert_eq!(calls[2]["core"]["value"], "done", "a tool may be called by its alias: {calls:#}");
}

#[test]
fn a_call_of_all_projects_is_a_call_of_each_judged_and_counted() {
    let (terminal, config) = terminal(PROJECTS);
    let rules = "default = 'allow'\n[[rule]]\nid = 'no-core'\ntools = 'kid.started'\nargs.project = { is = 'core' }\nthen = 'deny'\nwhy = 'not there'\n";
    terminal.file("policy.toml", rules);
    let outcome = run(&terminal, &config, "return await kid.started({ projects: 'all' })");
    assert_eq!(outcome["ok"], true, "{outcome:#}");
    let all = &outcome["value"];
    assert_eq!(all["docs"]["value"]["arguments"], json!(["--project=docs"]), "{outcome:#}");
    assert!(all["web"]["value"]["pid"].is_number() && all["web"]["value"]["pid"] != all["docs"]["value"]["pid"]);
    assert!(all["core"]["error"].as_str().unwrap().contains("not there"), "{outcome:#}");
    assert_eq!(outcome["calls"].as_array().unwrap().len(), 3, "each is a call of its own");
    assert_eq!(outcome["usage"]["tool_calls"], 3);
    // Rules see the project, however it was chosen.
    for said in ["{ project: 'core' }", "{ context: 'the REST API' }"] {
        let outcome = run(&terminal, &config, &format!("return await kid.started({said})"));
        assert_eq!(outcome["error"]["kind"], "denied", "{said}: {outcome:#}");
    }
    // A call outside of scripts does the same.
    let called =
        terminal.belljar(&["call", "--json", "--config", &config, "kid.started", "--input", r#"{"projects": "all"}"#]);
    let called = called.json();
    assert_eq!(called["value"]["docs"]["value"]["arguments"], json!(["--project=docs"]), "{called:#}");
    assert!(called["value"]["core"]["error"].as_str().unwrap().contains("not there"), "{called:#}");
    let limited = run(&terminal, &config, "return await kid.path({ projects: 'all' })");
    assert_eq!(limited["ok"], true, "{limited:#}");
    let limited = terminal.belljar(&[
        "run",
        "--json",
        "--max-calls",
        "2",
        "--config",
        &config,
        "--code",
        "return await kid.path({ projects: 'all' })",
    ]);
    assert_eq!(limited.json()["error"]["kind"], "calls", "{limited:#?}");
}

#[test]
fn what_names_no_project_or_two_is_refused_before_anything_is_sent() {
    let (terminal, config) = terminal(PROJECTS);
    let outside = at(&terminal, "elsewhere");
    std::os::unix::fs::symlink(&outside, terminal.folder.path().join("repos/web/escape")).unwrap();
    let escape = at(&terminal, "repos/web/escape");
    let script = format!(
        "const said = async (of) => {{ try {{ return await kid.started(of) }} catch (error) {{ return `${{error.message}} | ${{error.hint}}` }} }};
         const all = [];
         for (const of of [{{}}, {{ project: 'wbe' }}, {{ project: '../web' }}, {{ project: '-x' }}, {{ project: {} }}, {{ project: {} }},
             {{ project: '/a/../b' }}, {{ project: 'web', context: 'landing page' }}, {{ project: 'web', projects: 'all' }},
             {{ context: 'landing page', projects: 'all' }}, {{ context: 7 }}, {{ projects: 'some' }}, {{ project: ['web'] }}]) all.push(await said(of));
         return all;",
        json!(outside),
        json!(escape)
    );
    let all = value(&terminal, &config, &script);
    for (at, expected) in [
        "kid.started: it needs 'project', or 'context' with words",
        "kid has no project 'wbe'. Projects are listed in the wiki. | did you mean 'web'?",
        "kid has no project '../web'",
        "kid has no project '-x'",
        "elsewhere' is outside of every project of kid. Projects are listed in the wiki.",
        "escape' is outside of every project of kid. Projects are listed in the wiki.",
        "has '..' in it. Projects are listed in the wiki.",
        "give one of 'project', 'context' and 'projects'",
        "give one of 'project', 'context' and 'projects'",
        "give one of 'project', 'context' and 'projects'",
        "'context' must be a text",
        "'projects' takes \"all\" alone",
        "project",
    ]
    .into_iter()
    .enumerate()
    {
        let found = all[at].as_str().unwrap_or_else(|| panic!("{at} was sent: {all:#}"));
        assert!(found.contains(expected), "{expected}: {found}");
    }
}

#[test]
fn a_megabyte_of_words_and_ten_thousand_projects_are_bounded_work() {
    let projects = (0..10_000).map(|number| format!("p{number} = {{ hints = ['same', 'only {number}'] }}\n"));
    let projects = format!("key = '{{project}}'\n[servers.kid.projects]\n{}", projects.collect::<String>());
    let (terminal, config) = terminal(&projects);
    let script = "const words = 'same '.repeat(200_000);
        const refused = await kid.started({ context: words }).catch((error) => error.message);
        let asked;
        try { tools.route('kid', words) } catch (error) { asked = error.message }
        const signs = tools.route('kid', '(.*)+ [a-z]* \\\\w \\u0000 $^').project;
        const route = tools.route('kid', 'same '.repeat(1_500));
        return { refused, asked, signs, project: route.project, scores: route.scores.length, more: route.more,
            last: (await kid.started({ context: 'only 9999' })).arguments };";
    let all = value(&terminal, &config, script);
    assert!(
        all["refused"].as_str().unwrap().contains("'context': the words have 1000000 bytes; the limit is 8192"),
        "{all:#}"
    );
    assert!(all["asked"].as_str().unwrap().contains("the limit is 8192"), "{all:#}");
    assert_eq!(all["signs"], Value::Null);
    assert_eq!(
        json!([all["project"], all["scores"], all["more"], all["last"]]),
        json!(["p0", 20, 9_980, ["--project=p9999"]])
    );
}

#[test]
fn a_project_is_described_by_a_file_in_it_whose_paths_stay_below_it() {
    let (terminal, config) =
        terminal("key = '{project}'\nprojects = { shop = { file = 'repos/web/.serena/project.yml' } }\n");
    fs::create_dir_all(terminal.folder.path().join("repos/web/.serena")).unwrap();
    let file = "repos/web/.serena/project.yml";
    terminal.file(file, "project_name: shop\nlanguages: [typescript]\nhints:\n- storefront\npath: src\n");
    let started = value(&terminal, &config, "return await kid.started({ context: 'the storefront' })");
    let real = terminal.folder.path().canonicalize().unwrap().join("repos/web/src");
    assert_eq!(started["arguments"], json!([format!("--project={}", real.display())]));
    terminal.file(file, "path: ../core-service\n");
    // The error affects that project, but neither the configuration nor the rest of it.
    let script = "return await kid.started({ project: 'shop' }).catch((error) => error.message)";
    let refused = value(&terminal, &config, script);
    let text = refused.as_str().unwrap();
    assert!(text.contains("project 'shop' of kid cannot be called"), "{text}");
    assert!(text.contains("leads out of the folder of the project"), "{text}");
}

#[test]
fn the_paths_of_a_call_stay_in_the_folder_of_its_own_project() {
    let (terminal, config) = terminal(&PROJECTS.replace("paths = {", "paths = { arguments = ['path'],"));
    let [own, others] = ["repos/web/src", "repos/core-service"].map(|folder| at(&terminal, folder));
    let ask = |project: &str, path: &str| {
        let script = format!(
            "return await kid.path({{ project: '{project}', path: {} }}).then((call) => call.path, (error) => error.message)",
            json!(path)
        );
        value(&terminal, &config, &script).as_str().unwrap().to_owned()
    };
    let real = |path: &str| fs::canonicalize(path).unwrap().to_str().unwrap().to_owned();
    assert_eq!(ask("web", &own), real(&own));
    assert_eq!(ask("web", "src"), real(&own));
    for (project, path) in [("web", others.as_str()), ("web", "/etc"), ("docs", "/etc"), ("docs", &own), ("docs", "x")]
    {
        let refused = ask(project, path);
        assert!(refused.contains("the argument 'path' is a path that is refused"), "{project} {path}: {refused}");
    }
}

#[test]
fn what_a_script_would_call_is_known_with_its_project() {
    let (terminal, config) = terminal(PROJECTS);
    terminal.file(
        "policy.toml",
        "default = 'allow'\n[[rule]]\nid = 'no-core'\ntools = 'kid.started'\nargs.project = { is = 'core' }\nthen = 'deny'\n",
    );
    assert_eq!(terminal.belljar(&["servers", "--config", &config]).code, 0);
    let code = "await kid.started({ context: 'the REST API' });\nawait kid.started({ project: 'web' });\nawait kid.started({ projects: 'all' });\nawait kid.started({ context: words });";
    let plan = terminal.belljar(&["check", "--json", "--config", &config, "--code", code]).json();
    let verdicts: Vec<_> = plan["calls"].as_array().unwrap().iter().map(|call| &call["verdict"]).collect();
    assert_eq!(verdicts, [&json!("deny"), &json!("allow"), &Value::Null, &Value::Null], "{plan:#}");
}

#[test]
fn a_file_server_of_npm_has_an_instance_for_each_project_and_says_where_else_to_ask() {
    let terminal = Terminal::new();
    for (name, text) in [("web", "of the web"), ("core", "of the core")] {
        fs::create_dir_all(terminal.folder.path().join(name)).unwrap();
        terminal.file(&format!("{name}/notes.txt"), text);
    }
    terminal.file("secret.txt", "not for you");
    let server = installed("@modelcontextprotocol/server-filesystem/dist/index.js");
    let config = format!(
        "[servers.fs]\ncommand = '{}'\nargs = ['{}', '{{key}}']\nkey = '{{project}}'\ntrust_hints = true\n\
         paths = {{ arguments = ['path'], guidance = 'Ask ada for other folders.' }}\n\
         [servers.fs.projects.web]\npath = 'web'\nhints = ['storefront']\n[servers.fs.projects.core]\npath = 'core'\n",
        node(),
        server.display()
    );
    let config = terminal.file("belljar.toml", config).to_str().unwrap().to_owned();
    let script = format!(
        "const all = await fs.read_text_file({{ path: 'notes.txt', projects: 'all' }});
         const one = await fs.read_text_file({{ path: 'notes.txt', context: 'what the storefront says' }});
         const outside = await fs.read_text_file({{ path: {}, project: 'core' }}).catch((error) => error.message);
         return {{ all, one, outside }};",
        json!(at(&terminal, "secret.txt"))
    );
    let value = value(&terminal, &config, &script);
    assert_eq!(value["all"]["web"]["value"]["content"], "of the web", "{value:#}");
    assert_eq!(value["all"]["core"]["value"]["content"], "of the core", "{value:#}");
    assert_eq!(value["one"]["content"], "of the web");
    assert!(value["outside"].as_str().unwrap().ends_with(". Ask ada for other folders."), "{value:#}");
}
