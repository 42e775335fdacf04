use std::sync::Arc;

use belljar_model::{EffectRules, ToolDefinition};
use serde_json::json;

use super::*;
use crate::{
    names::namespaces,
    testing::{catalog, real},
};

fn paths(answer: &Answer) -> Vec<String> {
    answer.results.iter().map(|found| found.path.to_string()).collect()
}

/// A catalogue of `servers` servers with `tools` tools each.
fn synthetic(servers: usize, tools: usize) -> Catalog {
    let names: Vec<String> = (0..servers).map(|server| format!("server{server}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let servers = namespaces(&names).into_iter().map(|names| {
        let definition =
            |tool| ToolDefinition::from_json(json!({"name": format!("tool_{tool}"), "description": "Does it."}));
        let definitions = (0..tools).map(definition).collect::<Result<_, _>>().expect("tools");
        Arc::new(ServerCatalog::ready(names, definitions, &EffectRules::default()))
    });
    Catalog::new(servers.collect())
}

#[test]
fn a_question_finds_the_right_tool_among_the_first_five() {
    let catalog = real();
    for (question, right) in [
        ("open a page and read its title", "chrome-devtools.new_page playwright.browser_navigate"),
        ("rename a file", "filesystem.move_file"),
        ("create a branch", "git.git_create_branch"),
        ("commit my changes", "git.git_commit"),
        ("what time is it in Tokyo", "time.get_current_time"),
        ("convert 14:00 from New York to London", "time.convert_time"),
        ("take a screenshot of the whole page", "playwright.browser_take_screenshot chrome-devtools.take_screenshot"),
        ("go to a website", "playwright.browser_navigate chrome-devtools.navigate_page"),
        ("list files in a folder", "filesystem.list_directory"),
        ("find files by name pattern", "filesystem.search_files"),
        ("read several files at once", "filesystem.read_multiple_files"),
        ("run a sql select", "sqlite.read_query"),
        ("insert a row into the database", "sqlite.write_query"),
        ("columns of a table", "sqlite.describe_table"),
        ("add a comment to a notion page", "notion.API-create-a-comment"),
        ("create a new page in notion", "notion.API-post-page"),
        ("delete a block", "notion.API-delete-a-block"),
        ("unstage files", "git.git_reset"),
        ("show differences between two commits", "git.git_diff"),
        ("store facts about a person in the knowledge graph", "memory.create_entities memory.add_observations"),
        ("execute javascript in the browser", "playwright.browser_evaluate chrome-devtools.evaluate_script"),
        ("upload a file to a form", "playwright.browser_file_upload chrome-devtools.upload_file"),
        ("dark mode", "playwright.browser_emulate_media chrome-devtools.emulate"),
        (
            "why is the web page slow",
            "chrome-devtools.performance_start_trace chrome-devtools.performance_analyze_insight",
        ),
        ("http requests made by the page", "playwright.browser_network_requests chrome-devtools.list_network_requests"),
        ("environment variables", "everything.get-env"),
        ("add two numbers", "everything.get-sum"),
        ("fill in a form", "playwright.browser_fill_form chrome-devtools.fill_form"),
        ("press enter", "playwright.browser_press_key chrome-devtools.press_key"),
        ("size of a file", "filesystem.get_file_info filesystem.list_directory_with_sizes"),
    ] {
        let found = paths(&catalog.search(&Query { limit: Some(5), budget: Some(9_999), ..Query::new(question) }));
        assert!(right.split(' ').any(|right| found.iter().any(|path| path == right)), "{question}: {found:?}");
    }
}

#[test]
fn a_path_comes_first_then_a_name_then_its_spelling() {
    let catalog = real();
    let first = |text: &str| paths(&catalog.search(&Query::new(text))).first().cloned().unwrap_or_default();
    assert_eq!(first("filesystem.read_file"), "filesystem.read_file");
    assert_eq!(first("notion.API-get-user"), "notion.API-get-user");
    assert_eq!(first("notion.API_get_user"), "notion.API-get-user");
    assert_eq!(first("hover"), "chrome-devtools.hover");
    assert_eq!(first("ReadTextFile"), "filesystem.read_text_file");
    assert_eq!(first("browser tabs"), "playwright.browser_tabs");
}

#[test]
fn typing_errors_and_beginnings_are_forgiven() {
    let catalog = real();
    for (text, right) in [
        ("screnshot", "playwright.browser_take_screenshot"),
        ("directroy tree", "filesystem.directory_tree"),
        ("timezon", "time.get_current_time"),
        ("screen shot", "playwright.browser_take_screenshot"),
        ("lighthous", "chrome-devtools.lighthouse_audit"),
    ] {
        let found = paths(&catalog.search(&Query::new(text)));
        assert!(found.iter().take(5).any(|path| path == right), "{text}: {found:?}");
    }
}

#[test]
fn filters_keep_the_server_and_the_effect() {
    let catalog = real();
    let found = catalog.search(&Query { server: Some("playwright".to_owned()), ..Query::new("page") });
    assert!(!found.results.is_empty() && found.results.iter().all(|found| found.server == "playwright"));
    let found = catalog.search(&Query { effect: Some(Effect::Mutating), ..Query::new("file") });
    assert!(!found.results.is_empty() && found.results.iter().all(|found| found.effect == Effect::Mutating));
    let by_alias = catalog.search(&Query { server: Some("chrome_devtools".to_owned()), ..Query::default() });
    assert!(by_alias.results.iter().all(|found| found.server == "chrome-devtools"));
}

#[test]
fn an_unknown_server_is_answered_with_the_one_that_was_meant() {
    let catalog = real();
    let answer = catalog.search(&Query { server: Some("playwrigth".to_owned()), ..Query::new("page") });
    assert!(answer.results.is_empty());
    assert_eq!(answer.to_text(), "Note: there is no server \"playwrigth\"; did you mean \"playwright\"?\n");
    let answer = catalog.search(&Query { server: Some("zzz".to_owned()), ..Query::default() });
    assert!(
        answer.notes[0].starts_with("there is no server \"zzz\"; there are \"chrome-devtools\", "),
        "{:?}",
        answer.notes
    );
}

#[test]
fn the_answer_serialises_as_the_contract_says() {
    let tools = r#"[{"name": "read-file", "description": "Read a file. Any.", "annotations": {"readOnlyHint": true}}]"#;
    let catalog = catalog(&[("fs", tools)]);
    let json = |detail| {
        let query = Query { detail: Some(detail), ..Query::new("read") };
        serde_json::to_string(&catalog.search(&query)).expect("JSON")
    };
    assert_eq!(
        json(Detail::Brief),
        r#"{"results":[{"path":"fs.read-file","server":"fs","tool":"read-file","effect":"read_only","summary":"Read a file.","declaration":"fs.read_file(args?: Record<string, unknown>): Promise<unknown>","details":["Any."]}],"omitted":0,"unavailable":[]}"#
    );
    assert_eq!(
        json(Detail::Names),
        r#"{"results":[{"path":"fs.read-file","server":"fs","tool":"read-file","effect":"read_only"}],"omitted":0,"unavailable":[]}"#
    );
    assert!(json(Detail::Full).contains("declare namespace fs {"));
}

#[test]
fn no_words_give_the_catalogue() {
    let catalog = real();
    let text = catalog.search(&Query::default()).to_text();
    assert!(text.contains("time (2 tools): get_current_time, convert_time\n"), "{text}");
    assert!(text.contains("notion (24 tools): API_get_user, "), "{text}");
    let symbols = catalog.search(&Query::new("*** ?!"));
    assert!(symbols.notes[0].contains("no words"), "{:?}", symbols.notes);
    assert_eq!(symbols.results.len(), 164);
}

#[test]
fn a_catalogue_is_fair_to_small_servers() {
    let names = namespaces(&["big", "small"]);
    let list = |tools: usize| {
        (0..tools)
            .map(|tool| ToolDefinition::from_json(json!({"name": format!("tool_{tool}")})).expect("a tool"))
            .collect()
    };
    let [big, small] = [(&names[0], 1_000), (&names[1], 3)]
        .map(|(names, tools)| Arc::new(ServerCatalog::ready(names.clone(), list(tools), &EffectRules::default())));
    let catalog = Catalog::new(vec![big, small]);
    let answer = catalog.search(&Query { budget: Some(150), ..Query::default() });
    let text = answer.to_text();
    assert!(text.contains("small (3 tools): tool_0, tool_1, tool_2\n"), "{text}");
    assert!(text.contains("big (1000 tools): tool_0, tool_1, "), "{text}");
    assert_eq!(answer.omitted, 1_003 - answer.results.len());
    assert!(estimate_tokens(&text) <= 150, "{} tokens: {text}", estimate_tokens(&text));
}

#[test]
fn the_text_keeps_the_budget_and_says_what_it_left_out() {
    let catalogs = [real(), synthetic(300, 5), synthetic(1, 3_000)];
    for catalog in &catalogs {
        for text in ["", "page", "does it", "file directory read"] {
            for detail in [None, Some(Detail::Names), Some(Detail::Brief), Some(Detail::Full)] {
                for budget in [100, 500, 2_000, 20_000] {
                    let query = Query { detail, budget: Some(budget), limit: Some(500), ..Query::new(text) };
                    let answer = catalog.search(&query);
                    let used = estimate_tokens(&answer.to_text());
                    assert!(used <= budget, "{query:?} used {used}: {}", answer.to_text());
                    assert_eq!(answer.omitted > 0, answer.to_text().contains(" left out: raise "), "{query:?}");
                }
            }
        }
    }
}

#[test]
fn a_budget_too_small_for_one_entry_still_names_it() {
    let catalog = real();
    let query = Query { detail: Some(Detail::Full), budget: Some(150), ..Query::new("notion.API-post-page") };
    let answer = catalog.search(&query);
    assert_eq!(paths(&answer), ["notion.API-post-page"]);
    let text = answer.to_text();
    assert!(text.starts_with("notion.API_post_page"), "{text}");
    assert!(text.contains(" tokens: raise budget (150)"), "{text}");
    let answer = catalog.search(&Query { budget: Some(0), ..Query::new("filesystem.read_file") });
    assert_eq!(paths(&answer), ["filesystem.read_file"]);
    assert!(answer.to_text().starts_with("filesystem.read_file  // (read_only)\n"), "{}", answer.to_text());
}

#[test]
fn unavailable_servers_are_told_of() {
    let mut names = namespaces(&["ready", "broken", "sleeping"]);
    let sleeping = ServerCatalog::not_started(names.remove(2));
    let broken = ServerCatalog::unavailable(names.remove(1), "it exited with 1\u{1b}[31m", "check its command");
    let ready = ServerCatalog::ready(names.remove(0), Vec::new(), &EffectRules::default());
    let catalog = Catalog::new([ready, broken, sleeping].map(Arc::new).to_vec());
    let answer = catalog.search(&Query::default());
    assert_eq!(
        answer.to_text(),
        "ready (no tools)\nUnavailable: broken: it exited with 1�[31m (check its command)\nUnavailable: sleeping: not started yet (it starts when one of its tools is called)\n"
    );
    let json = serde_json::to_value(&answer.unavailable).expect("JSON");
    assert_eq!(json[0], json!({"server": "broken", "reason": "it exited with 1�[31m", "hint": "check its command"}));
    let answer = catalog.search(&Query { server: Some("ready".to_owned()), ..Query::default() });
    assert!(answer.unavailable.is_empty());
}

#[test]
fn the_order_is_the_same_every_time_and_ties_are_settled_by_path() {
    let catalog = synthetic(3, 40);
    let found = paths(&catalog.search(&Query { limit: Some(60), budget: Some(100_000), ..Query::new("does it") }));
    let mut sorted = found.clone();
    sorted.sort_by_key(|path| path.parse::<belljar_model::ToolPath>().expect("a path"));
    assert_eq!(found, sorted);
}

#[test]
fn a_monstrous_query_is_answered() {
    let catalog = real();
    for text in
        ["a ".repeat(1_000_000), "x".repeat(1_000_000), "\u{1b}[2J\u{202e}".repeat(10_000), "page ".repeat(100_000)]
    {
        let text = catalog.search(&Query::new(text)).to_text();
        assert!(text.chars().all(|character| character == '\n' || !crate::text::is_hidden(character)), "{text}");
    }
    let nothing = catalog.search(&Query::new("zzzzqqq")).to_text();
    assert_eq!(
        nothing,
        "Note: no tool matches \"zzzzqqq\"; try other words, or search for nothing to see every server\n"
    );
}

#[test]
fn a_path_is_answered_with_that_tool_alone() {
    let catalog = real();
    for path in ["git.git_commit", "notion.API-get-user", "notion.API_get_user"] {
        let answer = catalog.search(&Query::new(path));
        assert_eq!((answer.results.len(), answer.omitted), (1, 0), "{path}: {:?}", paths(&answer));
    }
}

#[test]
fn a_wish_that_says_what_to_do_finds_what_does_that() {
    let catalog = real();
    let first = |text: &str| paths(&catalog.search(&Query::new(text))).into_iter().next().unwrap_or_default();
    assert_eq!(first("commit my work"), "git.git_commit");
    assert_eq!(first("sum of a column"), "sqlite.read_query");
    assert!(first("remember that the user likes tea").starts_with("memory."));
    assert!(["git.git_log", "git.git_diff_staged"].contains(&&*first("what changed recently")));
    let text = paths(&catalog.search(&Query::new("get page text")));
    assert!(text.iter().take(5).any(|path| path.ends_with("snapshot")), "{text:?}");
    assert!(!first("delete file").starts_with("playwright."));
}

#[test]
fn what_deletes_comes_later_where_nobody_asked_for_it() {
    let catalog = real();
    let found = |text: &str| paths(&catalog.search(&Query::new(text)));
    let people = found("find people and relations in memory");
    let place =
        |wanted: &str| people.iter().position(|path| path == wanted).unwrap_or_else(|| panic!("{wanted}: {people:?}"));
    assert!(place("memory.read_graph") < 5 && place("memory.search_nodes") < 5, "{people:?}");
    for wish in ["find people and relations in memory", "remember facts about people and relations"] {
        assert!(!found(wish).iter().take(3).any(|path| path.contains("delete")), "{wish}: {:?}", found(wish));
    }
    assert!(found("forget about this person")[0].starts_with("memory.delete_"));
    assert!(found("get rid of a relation")[0].starts_with("memory.delete_"));
}

#[test]
fn a_search_for_a_function_of_tools_says_how_it_is_called() {
    let catalog = real();
    let answer = catalog.search(&Query::new("tools.parse"));
    assert!(answer.results.is_empty() && answer.notes.len() == 1, "{answer:?}");
    assert!(answer.notes[0].starts_with("every script has tools.parse(text, notation?"), "{:?}", answer.notes);
    for wish in ["parse a CSV file", "read front matter of notes", "read jsonl"] {
        let answer = catalog.search(&Query::new(wish));
        assert!(!answer.results.is_empty(), "{wish}");
        assert!(
            answer.notes.iter().any(|note| note.starts_with("every script has tools.parse(")),
            "{wish}: {answer:?}"
        );
    }
    assert!(catalog.search(&Query::new("tools.nothing")).notes.iter().all(|note| !note.contains("every script")));
}

#[test]
fn where_nothing_fits_well_the_answer_is_short_and_says_which_words_no_tool_has() {
    let catalog = real();
    let answer = catalog.search(&Query::new("list my slack channels"));
    assert!(answer.results.len() <= 5 && !answer.results.is_empty());
    assert_eq!(answer.notes, ["nothing fits well: no tool mentions \"channels\"; these match the rest"]);
    let answer = catalog.search(&Query::new("play some music"));
    assert_eq!(answer.notes, ["nothing fits well: no tool mentions \"music\"; these match the rest"]);
    // A name among known words does not count as a reason.
    for fine in ["read issue 42", "commit my work", "go to the news site", "find a github repository about parsers"] {
        assert_eq!(catalog.search(&Query::new(fine)).notes, Vec::<String>::new(), "{fine}");
    }
}

#[test]
fn a_result_that_calls_have_shown_is_in_the_line_of_a_tool_too() {
    let catalog = catalog(&[("db", r#"[{"name": "query"}]"#)]);
    let observed = |values: &[serde_json::Value]| {
        let mut observed = Observed::default();
        for value in values {
            observed.record(value, &crate::Words::default());
        }
        Arc::new(observed)
    };
    let rows = observed(&[json!([{ "id": 1, "name": "a" }])]);
    let answer = catalog.search_with(&Query::new("query"), &|_| Some(rows.clone()));
    assert_eq!(
        answer.results[0].declaration.as_deref(),
        Some("db.query(args?: Record<string, unknown>): Promise<{ id: number; name: string }[] /* observed */>")
    );
    let mixed = observed(&[json!([]), json!("[{'id': 1}]")]);
    let answer =
        catalog.search_with(&Query { detail: Some(Detail::Full), ..Query::new("query") }, &|_| Some(mixed.clone()));
    let declaration = answer.results[0].declaration.as_deref().unwrap_or_default();
    assert!(declaration.contains("What comes varies: a text in some calls, an array in others."), "{declaration}");
}

#[test]
fn tools_of_a_server_that_keeps_state_say_so_and_how_to_call_them() {
    let definition =
        ToolDefinition::from_json(json!({ "name": "open", "description": "Opens a page." })).expect("a tool");
    let server = ServerCatalog::ready(namespaces(&["web"]).remove(0), vec![definition], &EffectRules::default());
    let catalog = Catalog::new(vec![Arc::new(server.sharing_state())]);
    let answer = catalog.search(&Query::new("open a page"));
    assert_eq!(
        answer.to_text(),
        "web.open(args?: Record<string, unknown>): Promise<unknown>  // Opens a page. (external, stateful)\n\
         Note: all calls of web share one state (a page, a session): await them one after the other, or put what belongs together \
         into web.$exclusive(async () => { … })\n"
    );
    let full = catalog.search(&Query { detail: Some(Detail::Full), ..Query::new("open a page") });
    let declaration = full.results[0].declaration.as_deref().unwrap_or_default();
    assert!(
        declaration.contains("(external; one state for all calls of web: call one after the other)"),
        "{declaration}"
    );
}

#[test]
fn tools_whose_paths_are_kept_in_folders_say_in_which() {
    let tool = |name: &str, properties: serde_json::Value| {
        let schema = json!({ "type": "object", "properties": properties });
        ToolDefinition::from_json(json!({ "name": name, "description": "Reads a file.", "inputSchema": schema }))
            .expect("a tool")
    };
    let tools = vec![tool("read_file", json!({ "path": { "type": "string" } })), tool("file_count", json!({}))];
    let server = ServerCatalog::ready(namespaces(&["files"]).remove(0), tools, &EffectRules::default());
    let folders: Vec<std::path::PathBuf> = (1..=7).map(|number| format!("/data/{number}").into()).collect();
    let catalog = Catalog::new(vec![Arc::new(server.within(&folders, &["path".to_owned()]))]);
    let within = "within \"/data/1\" or \"/data/2\" or \"/data/3\" or \"/data/4\" or \"/data/5\" or 2 more (a relative one within \"/data/1\")";
    let answer = catalog.search(&Query::new("read a file"));
    assert_eq!(answer.notes, [format!("paths of files are {within}")]);
    let full = catalog.search(&Query { detail: Some(Detail::Full), ..Query::new("read_file") });
    let declaration = full.results[0].declaration.as_deref().unwrap_or_default();
    assert!(declaration.contains(&format!("(external; paths are {within})")), "{declaration}");
    assert_eq!(full.notes, Vec::<String>::new());
    // A tool without such an argument is not concerned.
    let count = catalog.search(&Query { limit: Some(1), ..Query::new("file_count") });
    assert_eq!((count.results[0].tool.as_str(), count.notes.len()), ("file_count", 0));
}

#[test]
fn where_a_tool_lists_the_folders_of_its_server_the_answer_names_it() {
    let tool = |name: &str| ToolDefinition::from_json(json!({ "name": name })).expect("a tool");
    let tools = vec![tool("read_file"), tool("list_allowed_directories")];
    let server = ServerCatalog::ready(namespaces(&["files"]).remove(0), tools, &EffectRules::default());
    let catalog = Catalog::new(vec![Arc::new(server)]);
    let notes = |text: &str| catalog.search(&Query { limit: Some(1), ..Query::new(text) }).notes;
    assert_eq!(notes("read_file"), ["files works in certain folders: files.list_allowed_directories({}) names them"]);
    assert_eq!(notes("list_allowed_directories"), Vec::<String>::new());
}

#[test]
fn a_question_of_several_wishes_finds_what_answers_each() {
    let catalog = real();
    for (question, right) in [
        ("read file list directory", "filesystem.read_text_file filesystem.list_directory"),
        ("create directory write file", "filesystem.create_directory filesystem.write_file"),
        (
            "create branch, stage files, commit changes",
            "git.git_create_branch|github.create_branch git.git_add|git.git_diff_staged git.git_commit",
        ),
        ("list tables and run sql query", "sqlite.list_tables sqlite.read_query"),
        ("convert time between timezones, then write the file", "time.convert_time filesystem.write_file"),
        (
            "search nodes in the graph, add observations, delete a relation",
            "memory.search_nodes memory.add_observations memory.delete_relations",
        ),
    ] {
        let found = paths(&catalog.search(&Query::new(question)));
        for right in right.split(' ') {
            let is_right = |path: &&String| right.split('|').any(|right| *path == right);
            assert!(found.iter().take(5).any(|path| is_right(&path)), "{question}: {found:?}");
        }
    }
}

#[test]
fn what_matches_weakly_is_counted_and_shown_to_those_who_ask_for_more() {
    let catalog = real();
    let of_files = |limit| Query { server: Some("filesystem".to_owned()), limit, ..Query::new("overwrite a file") };
    let answer = catalog.search(&of_files(None));
    let text = answer.to_text();
    assert!(answer.omitted > 1, "{text}");
    assert!(text.contains(&format!("{} more tools, ", answer.omitted)), "{text}");
    assert!(text.contains("which match weakly, are left out: raise limit (10)"), "{text}");
    let all = catalog.search(&of_files(Some(20)));
    assert_eq!((all.results.len(), all.omitted), (answer.results.len() + answer.omitted, 0));
}

#[test]
fn the_first_tools_are_told_in_detail_as_far_as_there_is_room() {
    let catalog = real();
    let answer = catalog.search(&Query::new("convert time to another timezone"));
    assert_eq!(answer.results[0].path.to_string(), "time.convert_time");
    assert!(answer.results[0].details[0].contains("time: Time to convert in 24-hour format (HH:MM)"));
    assert!(answer.to_text().contains("    // source_timezone: Source IANA timezone name"), "{}", answer.to_text());
    let tools = |budget| catalog.search(&Query { budget: Some(budget), ..Query::new("read a file") });
    let (short, long) = (tools(600), tools(2_000));
    let count = |answer: &Answer| answer.results.iter().map(|found| found.details.len()).sum::<usize>();
    assert!(count(&short) < count(&long), "{}", short.to_text());
    assert!(long.results.iter().skip(DETAILED).all(|found| found.details.is_empty()));
}

#[test]
fn tools_that_take_a_path_say_what_their_server_is_started_with() {
    let tool = |name: &str, properties: serde_json::Value| {
        let schema = json!({ "type": "object", "properties": properties });
        ToolDefinition::from_json(json!({ "name": name, "description": "Shows commits.", "inputSchema": schema }))
            .expect("a tool")
    };
    let text = json!({ "type": "string" });
    let tools = vec![tool("log", json!({ "repo_path": text })), tool("version", json!({ "name": text }))];
    let server = ServerCatalog::ready(namespaces(&["git"]).remove(0), tools, &EffectRules::default());
    let arguments = [(Some("--repository".to_owned()), "/data/site".into()), (None, "/data/\u{1b}*/".into())];
    let catalog = Catalog::new(vec![Arc::new(server.started_with(&arguments))]);
    let answer = catalog.search(&Query::new("git.log"));
    assert_eq!(answer.notes, ["git is started with --repository \"/data/site\" \"/data/\u{fffd}*/\""]);
    let full = catalog.search(&Query { detail: Some(Detail::Full), ..Query::new("git.log") });
    let declaration = full.results[0].declaration.as_deref().unwrap_or_default();
    assert!(declaration.contains("(external; git is started with --repository \"/data/site\" "), "{declaration}");
    assert_eq!(declaration.matches("*/").count(), 1, "{declaration}");
    assert_eq!(catalog.search(&Query::new("git.version")).notes, Vec::<String>::new());
}

#[test]
fn names_that_a_query_gives_are_not_shown_as_the_tools_own() {
    let catalog = catalog(&[("db", r#"[{"name": "query"}]"#)]);
    let mut observed = Observed::default();
    let asked = json!({ "query": "select id, name from people" });
    let words = crate::Words::of(&belljar_model::JsonText::from_value(&asked));
    observed.record(&json!([{ "id": 1, "name": "a" }]), &words);
    let rows = Arc::new(observed);
    let line = |detail| {
        let query = Query { detail: Some(detail), ..Query::new("query") };
        let answer = catalog.search_with(&query, &|_| Some(rows.clone()));
        answer.results[0].declaration.clone().unwrap_or_default()
    };
    let result = "{ [key: string]: string | number }[] /* observed; names and types as the call asks for */";
    assert!(line(Detail::Brief).ends_with(&format!("Promise<{result}>")), "{}", line(Detail::Brief));
    let full = line(Detail::Full);
    assert!(full.contains("Its names and types are those that a call's arguments ask for."), "{full}");
}

#[test]
fn several_names_in_one_question_are_found_and_nothing_else() {
    let catalog = real();
    let found = |text: &str| paths(&catalog.search(&Query { limit: Some(2), ..Query::new(text) }));
    let both = ["memory.create_entities", "memory.create_relations"];
    assert_eq!(found("create_entities create_relations"), both);
    assert_eq!(found("memory.create_relations, memory.create_entities"), both);
    // Among other words, the tools that are named come first.
    let mixed = paths(&catalog.search(&Query::new("put people into the graph with create_relations")));
    assert_eq!(mixed.first().map(String::as_str), Some("memory.create_relations"));
    assert!(mixed.len() > 1, "{mixed:?}");
}

#[test]
fn a_server_that_is_unavailable_is_explained_where_it_matters() {
    let mut servers =
        catalog(&[("git", r#"[{"name": "git_log", "description": "Shows commits."}]"#)]).servers().to_vec();
    let names = namespaces(&["sqlite"]).remove(0);
    servers.push(Arc::new(ServerCatalog::unavailable(names, "it exited", "install it")));
    let catalog = Catalog::new(servers);
    let text = |query: &Query| catalog.search(query).to_text();
    let brief = text(&Query::new("commits"));
    assert!(brief.ends_with("Unavailable: sqlite (search with server for the reason).\n"), "{brief}");
    let wanted = text(&Query { server: Some("sqlite".to_owned()), ..Query::new("query") });
    assert!(wanted.ends_with("Unavailable: sqlite: it exited (install it)\n"), "{wanted}");
    assert_eq!(
        text(&Query::new("sqlite.read_query")),
        "Note: the tools of \"sqlite\" are not known\nUnavailable: sqlite: it exited (install it)\n"
    );
    let nothing = text(&Query::new("zzzz"));
    assert!(nothing.ends_with("Unavailable: sqlite: it exited (install it)\n"), "{nothing}");
}

#[test]
fn a_word_that_no_tool_has_does_not_hide_that_the_rest_fits() {
    let catalog = real();
    let note = |text: &str| catalog.search(&Query::new(text)).notes.first().cloned().unwrap_or_default();
    assert_eq!(note("list my slack channels").split(':').next(), Some("nothing fits well"));
    let rest = note("git commit log uncommitted zzyzx qqfoo");
    assert!(rest.starts_with("no tool mentions "), "{rest}");
}
