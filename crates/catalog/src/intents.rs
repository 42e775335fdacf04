//! Maps the words of a wish to the words that tools use, for wishes that are worded differently.
//!
//! "Who wrote this" means a history, and "log in" a form. A list of synonyms cannot express that,
//! since "who" alone means nothing and "log" alone means a log. So an intent has cues, which occur
//! in the question in order and close together, and words that are looked up for them. These words
//! fit whole kinds of servers (version control, databases, browsers, notes), and name no server.

use std::sync::OnceLock;

use crate::words::{split, stem};

/// The most words between two cues, so that cues of two different phrases are not combined.
const NEAR: usize = 4;

/// The cues, each with its alternatives, and the intended words. A `#` stands for an hour such as
/// `3pm`.
#[rustfmt::skip]
const INTENTS: &[(&str, &str)] = &[
    // Questions about people and things.
    ("remember/remembers/memorize/recall", "memory knowledge graph entity observation"),
    ("keep mind", "memory knowledge graph entity observation"),
    ("know/knows", "memory knowledge graph"),
    ("user/i like/likes/prefer/prefers", "memory knowledge graph node"),
    ("works at/for", "relation entity"),
    ("people/person/relation/relations/entity/entities memory/graph", "read entire knowledge graph node"),
    ("forget/forgets", "memory entity delete"),
    // Clocks.
    ("day/today/hour/clock", "time current"),
    ("#", "time convert timezone"),
    ("when here/there", "time convert timezone"),
    // Databases.
    ("sum/total/average/mean/maximum/minimum/count", "query select"),
    ("how many", "query count"),
    ("column/columns sum/total/average/count", "query select"),
    ("put/add/insert/new row/rows/record/records/customer/order", "insert write query"),
    ("row/rows/records/customer/customers/orders", "query"),
    ("data have/is/there", "list table"),
    ("due/deadline/overdue", "query filter"),
    // Version control, and where it is hosted.
    ("changed/changes/happened/new recently/lately", "log commit diff"),
    ("what/who i/we/you change/changed", "diff status"),
    ("who wrote/changed/did/broke/touched", "log commit author"),
    ("blame", "log commit author"),
    ("start/new/on feature", "branch create"),
    ("propose/suggest/submit changes/change/code/work", "create pull request"),
    ("contribution/contributions/patch", "pull request"),
    ("tests/ci/build/checks pass/passed/passing/green/failing", "status check"),
    ("file/report/open bug/problem/defect", "create issue"),
    ("needs/need fixed/fixing", "issue list"),
    ("project", "repository"),
    ("online", "push remote"),
    ("function/method/class used/called", "search code"),
    ("where function/method/class", "search code"),
    // Browsers.
    ("log/logs/sign in", "fill form type"),
    ("login", "fill form type"),
    ("look/see page/screen/site", "snapshot page"),
    ("page text", "snapshot page"),
    ("calls/call server/backend/api", "network request"),
    ("page/site calls/call", "network request"),
    ("broken", "error console message"),
    ("phone/mobile/tablet", "emulate viewport device"),
    ("get rid", "dismiss handle delete close"),
    // Documents and files.
    ("people/they/team/everybody say/said/think", "comment"),
    ("feedback/opinion", "comment"),
    ("paragraph", "block"),
    ("throw away", "delete remove"),
    ("under/below another/page", "parent move"),
    ("write/draft up", "create page write"),
    ("new document/article", "create page write"),
    ("where put/save/saved", "search find"),
    ("another/new/different name", "rename move"),
    ("disk/drive", "file"),
    ("several", "multiple"),
    // Accounts.
    ("who am i", "self bot user"),
];

/// What a question means beyond its words.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Intent {
    /// The stems of the intended words, each once.
    pub(crate) meant: Vec<String>,
    /// The stems of the cues, which count less as words of the question.
    pub(crate) cues: Vec<String>,
}

struct Known {
    cues: Vec<Vec<&'static str>>,
    meant: Vec<String>,
}

/// What the question means. Only its first `most` words are read.
pub(crate) fn intent(text: &str, most: usize) -> Intent {
    let mut words = split(text);
    words.truncate(most);
    let mut found = Intent::default();
    for Known { cues, meant } in known() {
        let Some(places) = (0..words.len()).find_map(|start| places(cues, &words, start)) else { continue };
        let said = places.into_iter().filter_map(|place| words.get(place)).map(|word| stem(word).into_owned());
        found.cues.extend(said);
        for word in meant {
            if !found.meant.contains(word) {
                found.meant.push(word.clone());
            }
        }
    }
    found
}

/// The positions of the cues, the first of them at `start`.
fn places(cues: &[Vec<&str>], words: &[String], start: usize) -> Option<Vec<usize>> {
    let fits = |cue: &Vec<&str>, at: usize| {
        words.get(at).is_some_and(|word| cue.iter().any(|one| one == word || (*one == "#" && is_hour(word))))
    };
    let (first, rest) = cues.split_first()?;
    let mut places = vec![start];
    let mut at = fits(first, start).then_some(start)?;
    for cue in rest {
        at = (at + 1..=at + NEAR).find(|at| fits(cue, *at))?;
        places.push(at);
    }
    Some(places)
}

fn is_hour(word: &str) -> bool {
    let number = word.strip_suffix("am").or_else(|| word.strip_suffix("pm")).unwrap_or_default();
    (1..=2).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
}

fn known() -> &'static [Known] {
    static KNOWN: OnceLock<Vec<Known>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let known = |(cues, meant): &(&'static str, &'static str)| Known {
            cues: cues.split(' ').map(|cue| cue.split('/').collect()).collect(),
            meant: meant.split(' ').map(|word| stem(word).into_owned()).collect(),
        };
        INTENTS.iter().map(known).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(text: &str) -> String {
        intent(text, 64).meant.join(" ")
    }

    #[test]
    fn cues_in_their_order_and_near_to_each_other_mean_something() {
        assert_eq!(meant("who wrote this code"), "log commit author");
        assert_eq!(meant("Log in to the website"), "fill form typ");
        assert_eq!(meant("the meeting is at 3pm"), "tim convert timezon");
        for nothing in
            ["wrote who", "who is it that in the end wrote", "which errors were logged in the console", "the 3pmx", ""]
        {
            assert_eq!(meant(nothing), "", "{nothing}");
        }
        assert_eq!(intent("who wrote this", 64).cues, ["who", "wrot"]);
        assert_eq!(intent("please tell who wrote this", 3), Intent::default());
    }
}
