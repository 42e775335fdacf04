//! The owner's rules, how often each decided, and what they say about a call.

use std::{collections::BTreeMap, time::Duration};

use belljar_model::ToolPath;
use belljar_page::{NotShown, WrittenCall};
use belljar_policy::ListedRule;
use serde_json::{Map, Value, json};

use super::{
    source::{LedgerSource, refused, unreadable},
    tools::lists,
};
use crate::{
    approvals::laid_out,
    policy::{self, AskedCall, Known},
};

/// How long the count of decisions is kept: it covers all calls, and pages ask after each run.
const VERDICTS_LIVE: Duration = Duration::from_secs(3);

/// All rules as they are in force here. The counts of decisions cover all runs in the ledger, by
/// the rule's name.
pub(super) async fn list(source: &LedgerSource) -> Result<Value, NotShown> {
    let generation = source.generations.current();
    let verdicts = source.verdicts.or_make(VERDICTS_LIVE, verdicts(source)).await?;
    let mut hits: BTreeMap<Option<&str>, Vec<&Value>> = BTreeMap::new();
    for kept in verdicts.as_array().into_iter().flatten() {
        hits.entry(kept["rule"].as_str()).or_default().push(kept);
    }
    let by_default = hits.remove(&None).unwrap_or_default();
    let Some(rules) = &generation.setup.rules else {
        return Ok(json!({ "file": null, "rules": [], "by_default": by_default }));
    };
    let told = rules.policy.listed().map(|rule| {
        let mut told = as_json(&rule);
        told["hits"] = json!(hits.get(&Some(&*rule.id)).map(Vec::as_slice).unwrap_or_default());
        told
    });
    let defaults: Map<String, Value> =
        rules.policy.defaults().map(|(effect, verdict)| (effect.to_string(), json!(verdict))).collect();
    Ok(json!({
        "file": rules.path,
        "rules": told.collect::<Vec<_>>(),
        "defaults": defaults,
        "by_default": by_default,
        "tests": rules.policy.tests().len(),
    }))
}

/// How often each rule decided, as far as there is a ledger.
async fn verdicts(source: &LedgerSource) -> Result<Value, NotShown> {
    match source.ledger() {
        Ok(ledger) => Ok(json!(ledger.verdicts().await.map_err(unreadable)?)),
        Err(_) => Ok(json!([])),
    }
}

pub(super) fn as_json(rule: &ListedRule) -> Value {
    json!({
        "rule": rule.id,
        "then": rule.verdict,
        "why": rule.why,
        "line": rule.position.line,
        "text": rule.text,
    })
}

/// What `belljar policy explain` says about a call by the owner, and the arguments as they are
/// read.
pub(super) async fn explained(source: &LedgerSource, call: WrittenCall) -> Result<Value, NotShown> {
    let (path, arguments) = read(source, &call)?;
    let generation = source.generations.current();
    let arguments_text = laid_out(&Value::Object(arguments.clone()).to_string());
    let mut told = match &generation.setup.rules {
        None => policy::without_rules(&path),
        Some(rules) => {
            let known = Known::with(rules, &generation.setup.servers, lists(&generation).await);
            let asked = AskedCall::of_owner(&path, arguments);
            let explained = policy::explained(&known, &*source.ledger()?, asked).await;
            explained.map_err(|failure| refused(&failure))?.to_json()
        }
    };
    told["arguments_text"] = arguments_text.into();
    Ok(told)
}

/// A call as it was written.
pub(super) fn read(source: &LedgerSource, call: &WrittenCall) -> Result<(ToolPath, Map<String, Value>), NotShown> {
    let wrong = |message: String| NotShown::Wrong(message);
    let path = call.tool.trim().parse().map_err(|fault| wrong(format!("this is not the path of a tool: {fault}")))?;
    let most = source.generations.limits().max_arguments.as_u64();
    if call.arguments.len() as u64 > most {
        return Err(wrong(format!("the arguments have {} bytes; the limit is {most}", call.arguments.len())));
    }
    match serde_json::from_str(&call.arguments) {
        Ok(Value::Object(arguments)) => Ok((path, arguments)),
        Ok(_) => Err(wrong("the arguments are JSON, but not an object, as in {\"path\": \"notes.txt\"}".to_owned())),
        Err(error) => Err(wrong(format!("the arguments are not JSON: {error}"))),
    }
}
