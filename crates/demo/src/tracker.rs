//! The tracker itself: projects, issues, comments, and what can be done with them.

use crate::{
    data,
    issue::{Comment, Issue, IssueSummary, Project, State},
};

/// The most issues that a tracker holds.
const ISSUES: usize = 1_000;
/// The most comments of an issue.
const COMMENTS: usize = 200;
/// The longest title, name or label, in characters.
const SHORT_CHARS: usize = 200;
/// The longest body or comment, in characters.
const LONG_CHARS: usize = 10_000;
/// The most labels of one issue.
const LABELS: usize = 20;

/// Which issues to list. Absent fields do not restrict.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    pub(crate) project: Option<String>,
    pub(crate) state: Option<State>,
    pub(crate) label: Option<String>,
    pub(crate) assignee: Option<String>,
}

/// What to change in an issue. Absent fields stay unchanged.
#[derive(Debug, Default)]
pub(crate) struct Change {
    pub(crate) title: Option<String>,
    pub(crate) body: Option<String>,
    pub(crate) state: Option<State>,
    pub(crate) labels: Option<Vec<String>>,
    pub(crate) assignee: Option<String>,
}

/// Why the tracker refused. Written for a model that will correct its call.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("there is no issue {id}; issues 1 to {last} exist")]
    UnknownIssue { id: u32, last: usize },
    #[error("there is no project '{name}'; the projects are {known}")]
    UnknownProject { name: String, known: String },
    #[error("'{field}' must not be empty")]
    Empty { field: &'static str },
    #[error("'{field}' has {used} characters; the limit is {limit}")]
    TooLong { field: &'static str, used: usize, limit: usize },
    #[error("there is no room for more {what}; the limit is {limit}")]
    Full { what: &'static str, limit: usize },
}

/// All data of one connection.
#[derive(Debug, Clone)]
pub(crate) struct Tracker {
    projects: Vec<Project>,
    /// The issue with the number `n` is at `n - 1`; none is ever removed.
    issues: Vec<Issue>,
}

impl Tracker {
    /// A tracker with the demonstration's data.
    pub(crate) fn new() -> Self {
        Self { projects: data::projects(), issues: data::issues() }
    }

    pub(crate) fn projects(&self) -> Vec<Project> {
        let is_open = |issue: &&Issue| issue.state == State::Open;
        let counted = |project: &Project| {
            let open = self.issues.iter().filter(is_open).filter(|issue| issue.project == project.name).count();
            Project { open_issues: u32::try_from(open).unwrap_or(u32::MAX), ..project.clone() }
        };
        self.projects.iter().map(counted).collect()
    }

    /// The issues that pass the filter, newest first.
    pub(crate) fn list(&self, filter: &Filter) -> Result<Vec<IssueSummary>, Refusal> {
        if let Some(project) = &filter.project {
            self.check_project(project)?;
        }
        let is_wanted = |wanted: &Option<String>, value: &str| wanted.as_ref().is_none_or(|wanted| wanted == value);
        let passes = |issue: &&Issue| {
            is_wanted(&filter.project, &issue.project)
                && is_wanted(&filter.assignee, &issue.assignee)
                && filter.state.is_none_or(|state| state == issue.state)
                && filter.label.as_ref().is_none_or(|label| issue.labels.contains(label))
        };
        Ok(self.issues.iter().rev().filter(passes).map(Issue::summary).collect())
    }

    /// The issues that hold every word of `query`, newest first.
    pub(crate) fn search(&self, query: &str) -> Result<Vec<IssueSummary>, Refusal> {
        check_text("query", query, SHORT_CHARS)?;
        let words: Vec<_> = query.split_whitespace().map(str::to_lowercase).collect();
        let matches = |issue: &&Issue| {
            let text = issue.text().to_lowercase();
            words.iter().all(|word| text.contains(word.as_str()))
        };
        Ok(self.issues.iter().rev().filter(matches).map(Issue::summary).collect())
    }

    pub(crate) fn get(&self, id: u32) -> Result<&Issue, Refusal> {
        position(id)
            .and_then(|position| self.issues.get(position))
            .ok_or(Refusal::UnknownIssue { id, last: self.issues.len() })
    }

    pub(crate) fn create(&mut self, project: String, title: String, change: Change) -> Result<Issue, Refusal> {
        self.check_project(&project)?;
        check_text("title", &title, SHORT_CHARS)?;
        check_change(&change)?;
        if self.issues.len() >= ISSUES {
            return Err(Refusal::Full { what: "issues", limit: ISSUES });
        }
        let id = u32::try_from(self.issues.len() + 1).map_err(|_| Refusal::Full { what: "issues", limit: ISSUES })?;
        let mut issue = Issue {
            id,
            project,
            title,
            state: State::Open,
            labels: Vec::new(),
            assignee: String::new(),
            body: String::new(),
            created: data::TODAY.to_owned(),
            updated: data::TODAY.to_owned(),
            comments: Vec::new(),
        };
        issue.take(change);
        self.issues.push(issue.clone());
        Ok(issue)
    }

    pub(crate) fn update(&mut self, id: u32, change: Change) -> Result<Issue, Refusal> {
        check_change(&change)?;
        let issue = self.get_mut(id)?;
        issue.take(change);
        Ok(issue.clone())
    }

    pub(crate) fn comment(&mut self, id: u32, author: String, text: String) -> Result<Issue, Refusal> {
        check_text("author", &author, SHORT_CHARS)?;
        check_text("text", &text, LONG_CHARS)?;
        let issue = self.get_mut(id)?;
        if issue.comments.len() >= COMMENTS {
            return Err(Refusal::Full { what: "comments", limit: COMMENTS });
        }
        issue.comments.push(Comment { author, text, created: data::TODAY.to_owned() });
        issue.updated = data::TODAY.to_owned();
        Ok(issue.clone())
    }

    fn get_mut(&mut self, id: u32) -> Result<&mut Issue, Refusal> {
        let last = self.issues.len();
        position(id).and_then(|position| self.issues.get_mut(position)).ok_or(Refusal::UnknownIssue { id, last })
    }

    fn check_project(&self, name: &str) -> Result<(), Refusal> {
        if self.projects.iter().any(|project| project.name == name) {
            return Ok(());
        }
        let known: Vec<_> = self.projects.iter().map(|project| project.name.as_str()).collect();
        let name = name.chars().take(SHORT_CHARS).collect();
        Err(Refusal::UnknownProject { name, known: known.join(", ") })
    }
}

impl Issue {
    fn summary(&self) -> IssueSummary {
        IssueSummary {
            id: self.id,
            project: self.project.clone(),
            title: self.title.clone(),
            state: self.state,
            labels: self.labels.clone(),
            assignee: self.assignee.clone(),
            created: self.created.clone(),
            comments: self.comments.len(),
        }
    }

    fn text(&self) -> String {
        let comments = self.comments.iter().map(|comment| comment.text.as_str());
        let parts = [self.title.as_str(), self.body.as_str()].into_iter().chain(comments);
        parts.chain(self.labels.iter().map(String::as_str)).collect::<Vec<_>>().join("\n")
    }

    fn take(&mut self, change: Change) {
        let Change { title, body, state, labels, assignee } = change;
        self.title = title.unwrap_or_else(|| std::mem::take(&mut self.title));
        self.body = body.unwrap_or_else(|| std::mem::take(&mut self.body));
        self.state = state.unwrap_or(self.state);
        self.labels = labels.unwrap_or_else(|| std::mem::take(&mut self.labels));
        self.assignee = assignee.unwrap_or_else(|| std::mem::take(&mut self.assignee));
        self.updated = data::TODAY.to_owned();
    }
}

fn position(id: u32) -> Option<usize> {
    usize::try_from(id).ok()?.checked_sub(1)
}

fn check_change(change: &Change) -> Result<(), Refusal> {
    if let Some(title) = &change.title {
        check_text("title", title, SHORT_CHARS)?;
    }
    check_length("body", change.body.as_deref().unwrap_or_default(), LONG_CHARS)?;
    check_length("assignee", change.assignee.as_deref().unwrap_or_default(), SHORT_CHARS)?;
    let labels = change.labels.as_deref().unwrap_or_default();
    if labels.len() > LABELS {
        return Err(Refusal::Full { what: "labels", limit: LABELS });
    }
    labels.iter().try_for_each(|label| check_text("labels", label, SHORT_CHARS))
}

fn check_text(field: &'static str, text: &str, limit: usize) -> Result<(), Refusal> {
    if text.trim().is_empty() {
        return Err(Refusal::Empty { field });
    }
    check_length(field, text, limit)
}

fn check_length(field: &'static str, text: &str, limit: usize) -> Result<(), Refusal> {
    let used = text.chars().count();
    if used > limit { Err(Refusal::TooLong { field, used, limit }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_are_as_promised_and_the_same_each_time() {
        let tracker = Tracker::new();
        assert_eq!((tracker.projects.len(), tracker.issues.len()), (3, 42));
        assert_eq!(tracker.issues, Tracker::new().issues);
        for (index, issue) in tracker.issues.iter().enumerate() {
            assert_eq!(tracker.get(issue.id).map(|issue| issue.id), Ok(u32::try_from(index + 1).expect("few")));
            assert!(tracker.check_project(&issue.project).is_ok());
            assert!(issue.created <= issue.updated && issue.updated.as_str() <= data::TODAY, "{issue:?}");
        }
        assert!(tracker.projects().iter().all(|project| project.open_issues > 3));
    }

    #[test]
    fn a_refusal_tells_what_exists() {
        let mut tracker = Tracker::new();
        let refusal = tracker.get(99).expect_err("no such issue").to_string();
        assert_eq!(refusal, "there is no issue 99; issues 1 to 42 exist");
        assert!(tracker.get(0).is_err());
        let refusal = tracker.create("zeppelin".into(), "t".into(), Change::default()).expect_err("no such project");
        assert_eq!(refusal.to_string(), "there is no project 'zeppelin'; the projects are atlas, beacon, comet");
        assert!(tracker.create("atlas".into(), " ".into(), Change::default()).is_err());
        assert!(tracker.comment(1, "me".into(), "x".repeat(LONG_CHARS + 1)).is_err());
    }

    #[test]
    fn what_is_written_can_be_found() {
        let mut tracker = Tracker::new();
        let id = tracker.create("comet".into(), "Pelican sighted".into(), Change::default()).expect("created").id;
        tracker.comment(id, "me".into(), "It eats fish".into()).expect("commented");
        let change = Change { state: Some(State::Closed), labels: Some(vec!["bird".into()]), ..Change::default() };
        tracker.update(id, change).expect("updated");
        let found = tracker.search("FISH pelican bird").expect("searched");
        assert_eq!(found.iter().map(|issue| (issue.id, issue.state)).collect::<Vec<_>>(), [(id, State::Closed)]);
        let filter = Filter { label: Some("bird".into()), ..Filter::default() };
        assert_eq!(tracker.list(&filter).expect("listed").len(), 1);
    }
}
