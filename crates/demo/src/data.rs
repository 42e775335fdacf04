//! The demonstration's data, generated from small tables, the same each time.

use crate::issue::{Comment, Issue, Project, State};

/// The tracker's current day, which never changes.
pub(crate) const TODAY: &str = "2026-07-01";

const PROJECTS: [(&str, &str, &str); 3] = [
    ("atlas", "The map service: tiles, routing and search for places", "Ada"),
    ("beacon", "Notifications by mail, push and chat", "Grace"),
    ("comet", "The mobile app for both systems", "Linus"),
];

const PEOPLE: [&str; 6] = ["Ada", "Grace", "Linus", "Margaret", "Dennis", ""];

const REMARKS: [&str; 7] = [
    "I can reproduce this on the staging system.",
    "Happened again this morning, twice within an hour.",
    "The logs show a timeout just before. Could the connection pool be too small?",
    "A workaround is to restart the worker.",
    "I have a fix on a branch and need a review.",
    "Customers ask about this one every week.",
    "Let us wait for the next release before we touch it.",
];

/// Project, title, labels separated by spaces, and whether it is open.
const ISSUES: [(&str, &str, &str, State); 42] = {
    use State::{Closed, Open};
    [
        ("atlas", "Tiles are blurred after a zoom on high-density displays", "bug ui", Closed),
        ("beacon", "Mails are sent twice when the worker restarts", "bug urgent", Closed),
        ("comet", "App crashes on start without a network", "bug crash urgent", Closed),
        ("atlas", "Search finds no places with an accent in their name", "bug search", Open),
        ("beacon", "Let users choose quiet hours", "feature", Open),
        ("comet", "Dark mode", "feature ui", Closed),
        ("atlas", "Routing prefers ferries over bridges", "bug routing", Open),
        ("beacon", "Push tokens are never removed", "bug cleanup", Open),
        ("comet", "Login screen ignores the system's font size", "bug accessibility", Open),
        ("atlas", "Serve tiles from a cache near the user", "performance", Open),
        ("beacon", "Chat messages lose their line breaks", "bug", Closed),
        ("comet", "Battery drains while the map is in the background", "bug performance urgent", Open),
        ("atlas", "Document the tile format", "docs", Closed),
        ("beacon", "Templates in more than one language", "feature i18n", Open),
        ("comet", "Offline maps", "feature", Open),
        ("atlas", "Place search takes four seconds for short queries", "performance search", Open),
        ("beacon", "Unsubscribe link leads to a blank page", "bug urgent", Closed),
        ("comet", "Swipe to archive a notification", "feature ui", Open),
        ("atlas", "Wrong time zone in opening hours", "bug", Closed),
        ("beacon", "Retry policy for mail servers that answer 421", "reliability", Open),
        ("comet", "Crash when rotating the device on the route screen", "bug crash", Open),
        ("atlas", "Routing for bicycles", "feature routing", Open),
        ("beacon", "Dashboard of delivery rates", "feature ui", Open),
        ("comet", "Translate the app into Portuguese", "i18n", Closed),
        ("atlas", "Upgrade the geometry library", "cleanup", Closed),
        ("beacon", "Rate limit per recipient", "reliability", Open),
        ("comet", "Screen reader does not announce new messages", "bug accessibility", Open),
        ("atlas", "Tiles at the date line are missing", "bug", Open),
        ("beacon", "Queue grows without bound when chat is down", "bug reliability urgent", Open),
        ("comet", "Show the speed limit while driving", "feature", Open),
        ("atlas", "Import of place names fails on empty files", "bug", Closed),
        ("beacon", "Document the event schema", "docs", Open),
        ("comet", "First start takes nine seconds", "performance", Open),
        ("atlas", "Route avoids a street that has been open for a year", "bug routing", Open),
        ("beacon", "Sign outgoing webhooks", "security", Closed),
        ("comet", "Keep the access token in the key store", "security urgent", Open),
        ("atlas", "Search suggestions while typing", "feature search", Open),
        ("beacon", "Duplicate push after a change of device", "bug", Open),
        ("comet", "Remove the old onboarding screens", "cleanup ui", Closed),
        ("atlas", "Memory of the tile server doubles every week", "bug performance urgent", Open),
        ("beacon", "Digest mail once a day", "feature", Open),
        ("comet", "Report an error in the map from the app", "feature", Open),
    ]
};

pub(crate) fn projects() -> Vec<Project> {
    let project = |(name, description, lead): (&str, &str, &str)| Project {
        name: name.to_owned(),
        description: description.to_owned(),
        lead: lead.to_owned(),
        open_issues: 0,
    };
    PROJECTS.into_iter().map(project).collect()
}

pub(crate) fn issues() -> Vec<Issue> {
    ISSUES.into_iter().zip(0..).map(|(row, index)| issue(row, index)).collect()
}

fn issue((project, title, labels, state): (&str, &str, &str, State), index: usize) -> Issue {
    let labels: Vec<_> = labels.split(' ').map(str::to_owned).collect();
    let comments: Vec<_> = (0..index * 5 % 4).map(|number| comment(index, number)).collect();
    let created = day(index * 4);
    let changed = comments.last().map_or(&created, |comment| &comment.created).clone();
    let subject = labels.first().map_or("thing", String::as_str);
    Issue {
        id: u32::try_from(index + 1).unwrap_or(u32::MAX),
        project: project.to_owned(),
        title: title.to_owned(),
        state,
        assignee: person(index * 7 + 3).to_owned(),
        body: format!("{title}. Reported as a {subject} in {project}; seen by {} users so far.", index * 37 % 90 + 1),
        created,
        updated: changed,
        labels,
        comments,
    }
}

fn comment(index: usize, number: usize) -> Comment {
    let author = match person(index + number * 2) {
        "" => "Margaret",
        name => name,
    };
    let text = REMARKS.into_iter().cycle().nth(index + number * 3).unwrap_or_default();
    Comment { author: author.to_owned(), text: text.to_owned(), created: day(index * 4 + number + 1) }
}

fn person(number: usize) -> &'static str {
    PEOPLE.into_iter().cycle().nth(number).unwrap_or_default()
}

/// The day that is `days` after the first of January 2026, in a calendar whose months all have 28
/// days.
fn day(days: usize) -> String {
    let (month, day) = (days / 28 + 1, days % 28 + 1);
    format!("2026-{month:02}-{day:02}")
}
