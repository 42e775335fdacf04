//! The client's user decides with a form: only with an explicit word, and with one form per
//! question. Forms that no longer matter are withdrawn.

use serde_json::{Value, json};

use crate::{
    approvals_by_command::{CLOSE, Client, asking},
    support::Terminal,
};

#[test]
fn a_form_of_the_client_decides_by_an_explicit_word_alone() {
    let (terminal, config) = asking("");
    let (impatient, impatient_config) = asking("[approvals]\nwait = '5s'");
    let ask = |terminal: &Terminal, config: &str, answer: Option<Value>| {
        let mut client = Client::of(terminal, config, json!({ "elicitation": {} }));
        client.execute(CLOSE);
        let form = client.receive();
        assert_eq!(form["method"], "elicitation/create", "{form:#}");
        let choices = &form["params"]["requestedSchema"]["properties"]["decision"]["enum"];
        assert_eq!(choices[0], "deny", "whoever fills in the first value denies");
        let message = form["params"]["message"].as_str().unwrap();
        assert!(message.contains("demo.update_issue") && message.contains("\"id\": 3"), "{message}");
        assert!(!message.contains("belljar approve") && !message.contains("a_"), "{message}");
        if let Some(answer) = answer {
            client.send(&json!({ "jsonrpc": "2.0", "id": form["id"], "result": answer }));
        }
        let answer = client.receive();
        let structured = &answer["result"]["structuredContent"];
        match structured["error"]["message"].as_str() {
            Some(message) => Err(message.to_owned()),
            None => Ok(structured["value"].clone()),
        }
    };
    let accepted = |content: Value| Some(json!({ "action": "accept", "content": content }));
    let decided = |decision: &str| ask(&terminal, &config, accepted(json!({ "decision": decision })));
    assert_eq!(decided("approve this call"), Ok(json!("closed")));
    assert!(decided("deny").unwrap_err().contains("the owner said no"));
    // Accepted without content, declined, cancelled, silent: nobody has decided.
    for answer in [accepted(json!({})), Some(json!({ "action": "decline" })), Some(json!({ "action": "cancel" })), None]
    {
        let error = ask(&impatient, &impatient_config, answer).unwrap_err();
        assert!(error.contains("the owner was asked and did not decide within 5 s"), "{error}");
    }
}

#[test]
fn a_form_that_nobody_answers_holds_up_no_other_and_is_taken_back_when_it_is_decided_elsewhere() {
    let (terminal, config) = asking("[approvals]\nallow_yes = true");
    let mut client = Client::of(&terminal, &config, json!({ "elicitation": {} }));
    client.execute(
        "const close = (id) => demo.update_issue({ id, state: 'closed' });\n\
         return (await Promise.all([close(3), close(4)])).map((issue) => issue.id)",
    );
    let forms = [client.receive(), client.receive()];
    for form in &forms {
        assert_eq!(form["method"], "elicitation/create", "{form:#}");
    }
    let says = |form: &Value, id: u64| form["params"]["message"].as_str().unwrap().contains(&format!("\"id\": {id}"));
    let of = |id: u64| forms.iter().find(|form| says(form, id)).expect("a form for each call");
    // One of them is decided with a command, and nobody answers its form.
    let listed = terminal.belljar(&["approvals", "--json"]).json();
    let third = listed["approvals"].as_array().unwrap().iter().find(|each| each["arguments"]["id"] == 3).unwrap();
    let decided = terminal.belljar(&["approve", third["id"].as_str().unwrap(), "--yes"]);
    assert_eq!(decided.code, 0, "{decided:?}");
    let taken_back = loop {
        let message = client.next();
        if message["method"] == "notifications/cancelled" {
            break message;
        }
    };
    assert_eq!(taken_back["params"]["requestId"], of(3)["id"], "{taken_back:#}");
    let content = json!({ "action": "accept", "content": { "decision": "approve this call" } });
    client.send(&json!({ "jsonrpc": "2.0", "id": of(4)["id"], "result": content }));
    let answer = client.receive();
    assert_eq!(answer["result"]["structuredContent"]["value"], json!([3, 4]), "{answer:#}");
}
