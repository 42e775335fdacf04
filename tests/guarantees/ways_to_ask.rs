//! A rule names the ways in which its owner is asked, and a decision that is made in another way
//! does not count.

use std::time::{Duration, Instant};

use belljar_approvals::{By, Change, Channel, Desk, Refusal};
use belljar_gateway::Approvals;
use belljar_ledger::{Ledger as _, QuestionFilter};
use belljar_model::{AskWay, AskWays, ByteSize};
use serde_json::{Value, json};

use crate::{
    approvals::{DESK, House},
    approvals_by_command::{CLOSE, Client, Person, asking, waiting},
    cancellation::AMPLE,
    support::{Answer, Terminal},
};

const LONG: Duration = Duration::from_secs(600);
const WRITE: &str = "await fs.write_file({ path: '/x', content: '' }); return 'written'";

fn rules(how: &str) -> String {
    format!("default = 'allow'\n[[rule]]\nid = 'writes'\ntools = 'fs.write_file'\nthen = 'ask'\nask = {{ {how} }}\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_that_comes_a_way_that_the_rule_does_not_name_counts_for_nothing() {
    let ways = [
        (AskWay::Cli, (By::Owner, Channel::Command), (By::Desk(DESK), Channel::Elicitation)),
        (AskWay::Elicitation, (By::Desk(DESK), Channel::Elicitation), (By::Owner, Channel::Page)),
        (AskWay::Page, (By::Owner, Channel::Page), (By::Owner, Channel::Command)),
    ];
    for (way, named, other) in ways {
        let house = House::new(&rules(&format!("who = ['{}', 'webhook']", way.as_str())), LONG);
        let run = house.start(WRITE);
        let question = house.questions(1).await.remove(0);
        let names = AskWays::NONE.with(way).with(AskWay::Webhook);
        assert_eq!(question.binding.ways, names);
        // Nor is it asked there.
        assert_eq!(
            (question.desk.is_some(), question.for_command),
            (way == AskWay::Elicitation, way != AskWay::Elicitation)
        );
        let refused = house.decide_by(question.id, true, other.0, other.1).await;
        assert_eq!(refused, Err(Refusal::OtherWay(names)));
        house.decide_by(question.id, true, named.0, named.1).await.unwrap();
        let outcome = run.await.unwrap();
        assert_eq!(outcome.result.unwrap().as_str(), "\"written\"");
        let (_, calls) = house.owner.run(outcome.run.unwrap()).await.unwrap().unwrap();
        assert_eq!(calls[0].decided_by.as_deref(), Some(named.1.as_str()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_no_way_that_the_rule_names_reaches_anybody_it_is_an_error_at_once() {
    let asked = |desk, by_command| Approvals {
        desk,
        by_command,
        allow_yes: false,
        wait: LONG,
        hold: LONG,
        max_resting: ByteSize::mib(1),
    };
    let terminal = Some(Desk { id: DESK, way: AskWay::Cli });
    let form = Some(Desk { id: DESK, way: AskWay::Elicitation });
    for (who, approvals) in
        [("elicitation", asked(None, true)), ("elicitation", asked(terminal, true)), ("cli", asked(form, false))]
    {
        let house = House::new(&rules(&format!("who = '{who}'")), LONG);
        let outcome = house.gateway.with_approvals(approvals).execute(WRITE.to_owned()).await;
        let message = outcome.result.unwrap_err().message;
        assert!(message.contains("nobody can be asked here in a way that the rule names"), "{message}");
        assert!(house.owner.questions(QuestionFilter::default()).await.unwrap().is_empty());
        assert!(house.sent().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_says_how_long_its_owner_has_to_decide() {
    let house = House::new(&rules("expires = '300ms'"), LONG);
    let message = house.start(WRITE).await.unwrap().result.unwrap_err().message;
    assert!(message.contains("the owner was asked and did not decide within 300 ms"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_goes_on_elsewhere_is_asked_about_there_only_where_its_rule_says_so() {
    let house = House::new(&rules("who = 'elicitation'"), LONG);
    let run = house.start(WRITE);
    let question = house.questions(1).await.remove(0);
    let of_run = QuestionFilter { run: Some(question.run()), ..QuestionFilter::default() };
    for (way, desk) in [(AskWay::Cli, None), (AskWay::Elicitation, Some(9))] {
        house.owner.change_question(Change::Move(question.run(), Desk { id: 9, way })).await.unwrap().unwrap();
        assert_eq!(house.owner.questions(of_run).await.unwrap()[0].question.desk, desk, "{way:?}");
    }
    house.decide_by(question.id, false, By::Desk(9), Channel::Elicitation).await.unwrap();
    assert!(run.await.unwrap().result.is_err());
}

// From here on, with the program itself.

/// A terminal with the demo, about whose changes its owner is asked in this way.
fn asking_by(who: &str) -> (Terminal, String) {
    let (terminal, config) = asking("[approvals]\nallow_yes = true");
    let rules = format!(
        "default = 'allow'\n[[rule]]\nid = 'closing'\ntools = 'demo.update_issue'\nthen = 'ask'\nask = {{ who = '{who}' }}\n"
    );
    terminal.file("policy.toml", rules);
    (terminal, config)
}

#[test]
fn a_form_is_shown_only_where_the_rule_names_forms_and_the_command_decides_only_where_it_names_that() {
    let form = json!({ "elicitation": {} });
    let (terminal, config) = asking_by("cli");
    let mut client = Client::of(&terminal, &config, form.clone());
    client.execute(CLOSE);
    let question = waiting(&terminal);
    assert_eq!(question["who"], json!(["cli"]));
    assert_eq!(terminal.belljar(&["approve", question["id"].as_str().unwrap(), "--yes"]).code, 0);
    let answer = client.receive();
    let outcome = &answer["result"]["structuredContent"];
    assert_eq!(outcome["value"], "closed", "no form came first: {answer:#}");
    // A call that only reads is kept with the end of its run, which follows the answer.
    let asked = Instant::now();
    let run = loop {
        let run = terminal.belljar(&["runs", "show", outcome["run"].as_str().unwrap(), "--json"]).json();
        if run["calls"].as_array().unwrap().len() == 2 {
            break run;
        }
        assert!(asked.elapsed() < AMPLE, "{run:#}");
    };
    assert_eq!(run["calls"][1]["decided_by"], "unattended", "{run:#}");
    let shown = terminal.belljar(&["runs", "show", outcome["run"].as_str().unwrap()]).stdout;
    assert!(shown.contains("by rule 'closing', decided by unattended"), "{shown}");

    let (terminal, config) = asking_by("elicitation");
    let mut client = Client::of(&terminal, &config, form);
    client.execute(CLOSE);
    let form = client.receive();
    assert_eq!(form["method"], "elicitation/create", "{form:#}");
    let id = waiting(&terminal)["id"].take();
    let answer = terminal.belljar(&["approve", id.as_str().unwrap(), "--yes"]);
    let says = "its rule does not let it be decided this way: it names elicitation";
    assert!(answer.code == 1 && answer.stderr.contains(says), "{answer:?}");
    let content = json!({ "action": "accept", "content": { "decision": "approve this call" } });
    client.send(&json!({ "jsonrpc": "2.0", "id": form["id"], "result": content }));
    assert_eq!(client.receive()["result"]["structuredContent"]["value"], "closed");

    // A client without forms, and a terminal: nobody is asked, and nobody waits.
    let mut client = Client::of(&terminal, &config, json!({}));
    client.execute(CLOSE);
    let answer = client.receive();
    let error = &answer["result"]["structuredContent"]["error"]["message"];
    assert!(error.as_str().unwrap().contains("in a way that the rule names"), "{answer:#}");
    let run = terminal.command(&["run", "--code", CLOSE, "--no-daemon", "--config", &config]);
    let (code, shown) = Person::at(&run).ends();
    assert!(code == 1 && shown.contains("in a way that the rule names"), "{code}\n{shown}");
}

#[test]
fn explain_says_who_is_asked_and_how_long_and_a_way_that_there_is_not_is_a_mistake() {
    let (terminal, config) = asking_by("cli");
    let explain = |more: &str| terminal.belljar(&["policy", "explain", "demo.update_issue", "--config", &config, more]);
    let found = explain("--json").json();
    assert_eq!((&found["who"], &found["expires_ms"]), (&json!(["cli"]), &Value::Null), "{found:#}");
    let rule =
        |ask: &str| format!("default = 'ask'\n[[rule]]\nid = 'a'\ntools = 'demo.*'\nthen = 'ask'\nask = {ask}\n");
    terminal.file("policy.toml", rule("{ who = ['elicitation', 'cli'], expires = '2h' }"));
    let answer: Answer = explain("--principal=owner");
    assert!(answer.stdout.ends_with("ask by 'a'\nasked by: cli, elicitation\nexpires after: 2h\n"), "{answer:?}");
    terminal.file("policy.toml", rule("{ who = ['page'] }"));
    assert_eq!(explain("--json").json()["who"], json!(["page"]));
    terminal.file("policy.toml", rule("{ who = ['mail'] }"));
    let answer = explain("--json");
    assert!(answer.code == 2 && answer.stdout.contains("'mail' is not a way to ask"), "{answer:?}");
}
