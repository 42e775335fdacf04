//! Several calls can be one question: the owner decides about one call, about these calls, or about
//! any arguments of a tool under a rule. The last applies to the tool's current definition, and to
//! the rest of the run only.

use std::time::SystemTime;

use belljar_approvals::{By, Change, Channel, Decision, Refusal, State};
use belljar_ledger::Ledger as _;
use serde_json::{Value, json};

use crate::{
    approvals::{House, LONG, RULES},
    approvals_by_command::{CLOSE, Client, Person, asking, waiting},
    stub_server::Stub,
    support::{Answer, Terminal},
};

impl House {
    /// Approves any arguments of such calls.
    async fn grant(&self, question: &belljar_approvals::Question) -> Result<(), Refusal> {
        let (by, channel) = (By::Owner, Channel::Command);
        let decision = Decision { approve: true, by, channel, at: SystemTime::now() };
        self.owner.change_question(Change::Grant(question.id, decision)).await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn any_arguments_are_agreed_to_for_the_rest_of_the_run_and_no_further() {
    let house = House::new(RULES, LONG);
    // More than a run may ask about.
    let source = "const write = path => fs.write_file({ path, content: 'x' });\n\
        await Promise.all(['/1', '/2', '/3'].map(write)); await fs.read_text_file({ path: '/r' });\n\
        for (let i = 0; i < 150; i++) await write('/n' + i);\n\
        return await write('/etc/x').catch(error => error.message)";
    let run = house.start(source);
    let questions = house.questions(3).await;
    house.grant(&questions[1]).await.unwrap();
    for question in &questions {
        assert!([State::Approved, State::Sent].contains(&house.state(question.id).await), "those that wait too");
    }
    let outcome = run.await.unwrap();
    let said = outcome.result.as_ref().unwrap();
    assert!(said.as_str().contains("fs.write_file is denied by rule 'never'"), "a deny wins: {outcome:#?}");
    assert_eq!(house.sent().len(), 154);
    let (_, calls) = house.owner.run(outcome.run.unwrap()).await.unwrap().unwrap();
    let decided: Vec<_> = calls.iter().filter_map(|call| call.decided_by.as_deref()).collect();
    assert_eq!(decided.iter().filter(|by| **by == "command").count(), 3, "{decided:?}");
    assert_eq!(decided.iter().filter(|by| **by == "command, any arguments").count(), 150, "{decided:?}");
    // Another run has its own approvals.
    let run = house.start("await fs.write_file({ path: '/4', content: 'x' })");
    let question = house.questions(1).await.remove(0);
    house.decide(question.id, false).await.unwrap();
    assert!(run.await.unwrap().result.is_err());
    assert_eq!(house.sent().len(), 154);
    assert_eq!(house.grant(&question).await, Err(Refusal::Decided(State::Denied)));
}

#[tokio::test(flavor = "multi_thread")]
async fn any_arguments_are_those_of_one_tool_under_one_rule_as_it_is_defined_now() {
    let (stub, sent) = Stub::that_redefines_after("read_text_file");
    let rules = "default = 'allow'\n\
        [[rule]]\nid = 'tmp'\ntools = 'fs.write_file'\nargs.path = { under = '/tmp' }\nthen = 'ask'\n\
        [[rule]]\nid = 'writes'\ntools = ['fs.write_file', 'fs.create_directory']\nthen = 'ask'\n";
    let house = House::over(stub, sent, rules, LONG);
    let run = house.start(
        "await fs.write_file({ path: '/1', content: '' }); await fs.write_file({ path: '/2', content: '' });\n\
         await fs.write_file({ path: '/tmp/3', content: '' }); await fs.create_directory({ path: '/4' });\n\
         await fs.list_directory({ path: '/' }); await fs.write_file({ path: '/5', content: '' })",
    );
    let first = house.questions(1).await.remove(0);
    house.grant(&first).await.unwrap();
    // Another rule of the same tool, and another tool of the same rule.
    for path in ["/tmp/3", "/4"] {
        let question = house.questions(1).await.remove(0);
        assert!(question.arguments.contains(path), "{}", question.arguments);
        if path == "/4" {
            // Another run makes the server change its definition.
            assert!(house.start("await fs.read_text_file({ path: '/a' }); 1").await.unwrap().is_ok());
            let upstream = house.gateway.toolbox().upstream();
            let is_heard_of = async || {
                let tools = upstream.tools("fs").await.unwrap();
                tools.iter().any(|tool| tool.description.as_deref() == Some("Wipes the disk"))
            };
            while !is_heard_of().await {
                tokio::task::yield_now().await;
            }
        }
        house.decide(question.id, true).await.unwrap();
    }
    let question = house.questions(1).await.remove(0);
    assert!(question.arguments.contains("/5"), "{}", question.arguments);
    assert_ne!(question.binding.definition, first.binding.definition);
    house.decide(question.id, false).await.unwrap();
    assert!(run.await.unwrap().result.is_err());
    assert_eq!(house.sent(), ["/1", "/2", "/tmp/3", "/a", "/4", "/"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_agreed_to_ends_with_its_run() {
    let house = House::new(RULES, LONG);
    let run = house.start("await fs.write_file({ path: '/1', content: '' }); return 1");
    let question = house.questions(1).await.remove(0);
    house.grant(&question).await.unwrap();
    assert!(run.await.unwrap().is_ok());
    // The end of the run is in the ledger by now: later entries follow it.
    house.owner.run(question.run()).await.unwrap().unwrap();
    while house.owner.run(question.run()).await.unwrap().unwrap().0.took.is_none() {
        tokio::task::yield_now().await;
    }
    let claimed = house.owner.change_question(Change::Claim(Box::new(question.clone()))).await.unwrap();
    assert_eq!(claimed, Err(Refusal::NotApproved));
}

// From here on, with the program itself.

const BOTH: &str = "const close = (id) => demo.update_issue({ id, state: 'closed' });\n\
    const first = await Promise.all([close(3), close(4)]); const last = await close(5);\n\
    return [...first, last].map((issue) => issue.id)";

fn both_waiting(terminal: &Terminal) -> Vec<Value> {
    loop {
        waiting(terminal);
        let listed = terminal.belljar(&["approvals", "--json"]).json();
        let listed = listed["approvals"].as_array().unwrap().clone();
        if listed.len() == 2 {
            return listed;
        }
    }
}

#[test]
fn a_command_decides_about_several_about_a_run_and_about_any_arguments_in_just_these_words() {
    let (terminal, config) = asking("[approvals]\nhold = '10m'");
    let mut client = Client::of(&terminal, &config, json!({}));
    client.execute(BOTH);
    let both = both_waiting(&terminal);
    let run = both[0]["run"].as_str().unwrap();
    let shown = terminal.belljar(&["approvals"]).stdout;
    let heading = format!("{run}: 2 calls of demo.update_issue under rule 'closing'\n");
    assert!(shown.starts_with(&heading), "{shown}");
    let ids: Vec<&str> = both.iter().map(|each| each["id"].as_str().unwrap()).collect();
    let mut person = Person::at(&terminal.command(&["approve", ids[0], ids[1], ids[0]]));
    person.sees(" to approve these 2 calls: ");
    assert!(person.shown.contains("\"id\": 3") && person.shown.contains("\"id\": 4"), "{}", person.shown);
    let code = person.code();
    person.types(&code);
    let (exit, shown) = person.ends();
    assert_eq!(exit, 0, "{shown}");
    // The third question, by the name of its run.
    let last = waiting(&terminal);
    assert_eq!((&last["run"], &last["arguments"]["id"]), (&json!(run), &json!(5)));
    let mut person = Person::at(&terminal.command(&["approve", &run[..8], "--any-arguments"]));
    person.sees(" to approve that: ");
    let words =
        "any arguments of demo.update_issue under rule 'closing', as it is defined now, for the rest of this run";
    assert!(person.shown.contains(words), "{}", person.shown);
    let code = person.code();
    person.types(&code);
    let (exit, shown) = person.ends();
    assert_eq!(exit, 0, "{shown}");
    let answer = client.receive();
    assert_eq!(answer["result"]["structuredContent"]["value"], json!([3, 4, 5]), "{answer:#}");
    let none = terminal.belljar(&["deny", run]);
    assert!(none.code == 2 && none.stderr.contains("waits for a decision"), "{none:?}");
}

#[test]
fn a_run_that_was_put_aside_goes_on_with_what_was_agreed_to() {
    let (terminal, config) = asking("[approvals]\nallow_yes = true");
    let command = |arguments: &[&str]| {
        Answer::of(terminal.command(&[arguments, &["--no-daemon", "--config", &config]].concat()).output().unwrap())
    };
    let run = command(&["run", "--code", BOTH, "--json"]).json()["run"].as_str().unwrap().to_owned();
    let id = both_waiting(&terminal)[0]["id"].take();
    let answer = terminal.belljar(&["approve", id.as_str().unwrap(), "--any-arguments", "--yes"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    let answer = command(&["resume", &run, "--json"]);
    assert_eq!((answer.code, &answer.json()["value"]), (0, &json!([3, 4, 5])), "{answer:?}");
}

#[test]
fn whoever_sits_at_the_terminal_of_a_run_can_agree_to_any_arguments() {
    let (terminal, config) = asking("");
    let mut person =
        Person::at(&terminal.command(&["run", "--code", BOTH, "--json", "--no-daemon", "--config", &config]));
    person.sees("send it? type yes or no: ");
    let words = "any means any arguments of demo.update_issue under rule 'closing', as it is defined now, for the rest of this run";
    assert!(person.shown.contains(words), "{}", person.shown);
    person.types("any");
    let (code, shown) = person.ends();
    assert_eq!((code, shown.matches("send it?").count()), (0, 1), "{shown}");
    // A single yes applies to one call.
    let (terminal, config) = asking("");
    let more =
        format!("{CLOSE}; ").replace("return issue.state", "await demo.update_issue({ id: 4, state: 'closed' })");
    let mut person = Person::at(&terminal.command(&["run", "--code", &more, "--no-daemon", "--config", &config]));
    for number in 1..=2 {
        while person.shown.matches("send it?").count() < number {
            let seen = person.shown.len();
            person.sees_more(seen);
        }
        person.types("yes");
    }
    assert_eq!(person.ends().0, 0);
}
