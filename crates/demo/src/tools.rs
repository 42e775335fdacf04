//! The tracker as MCP tools.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use rmcp::{
    Json, RoleServer, ServerHandler,
    handler::server::{router::tool::ToolRouter, wrapper::Parameters},
    model::{ErrorCode, ErrorData, ListPromptsResult, ListResourcesResult, PaginatedRequestParams},
    service::RequestContext,
    tool, tool_handler, tool_router,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    issue::{Issue, IssueSummary, Project, State},
    tracker::{Change, Filter, Refusal, Tracker},
};

/// Issues in one answer unless asked otherwise.
const DEFAULT_LIMIT: u32 = 50;

/// One connection's tracker.
#[derive(Clone)]
pub(crate) struct Demo {
    tracker: Arc<Mutex<Tracker>>,
    router: ToolRouter<Self>,
}

#[derive(Serialize, JsonSchema)]
struct ProjectList {
    /// All projects.
    projects: Vec<Project>,
}

#[derive(Serialize, JsonSchema)]
struct IssueList {
    /// The issues found, newest first.
    issues: Vec<IssueSummary>,
    /// How many there are in all; more than are listed if `limit` cut the list.
    total: usize,
}

#[derive(Deserialize, JsonSchema)]
struct ListIssues {
    /// Only issues of this project: atlas, beacon or comet.
    #[serde(default)]
    #[schemars(with = "String", skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    /// Only issues in this state.
    #[serde(default)]
    #[schemars(with = "State", skip_serializing_if = "Option::is_none")]
    state: Option<State>,
    /// Only issues with this label, for example bug, feature, urgent or performance.
    #[serde(default)]
    #[schemars(with = "String", skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    /// Only issues of this person; the empty text finds those of nobody.
    #[serde(default)]
    #[schemars(with = "String", skip_serializing_if = "Option::is_none")]
    assignee: Option<String>,
    /// The most issues to list, 50 by default.
    #[serde(default)]
    #[schemars(with = "u32", skip_serializing_if = "Option::is_none")]
    limit: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
struct SearchIssues {
    /// Words that must all occur, in any order and case.
    query: String,
    /// The most issues to list, 50 by default.
    #[serde(default)]
    #[schemars(with = "u32", skip_serializing_if = "Option::is_none")]
    limit: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
struct GetIssue {
    /// The issue's number.
    id: u32,
}

#[derive(Deserialize, JsonSchema)]
struct CreateIssue {
    /// The project: atlas, beacon or comet.
    project: String,
    /// What it is about, in one line.
    title: String,
    /// What it is about, in full.
    #[serde(default)]
    #[schemars(with = "String", skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    /// Its labels.
    #[serde(default)]
    #[schemars(with = "Vec<String>", skip_serializing_if = "Option::is_none")]
    labels: Option<Vec<String>>,
    /// Who is to work on it.
    #[serde(default)]
    #[schemars(with = "String", skip_serializing_if = "Option::is_none")]
    assignee: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct UpdateIssue {
    /// The issue's number.
    id: u32,
    /// A new title.
    #[serde(default)]
    #[schemars(with = "String", skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// A new body.
    #[serde(default)]
    #[schemars(with = "String", skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    /// A new state: close it or open it again.
    #[serde(default)]
    #[schemars(with = "State", skip_serializing_if = "Option::is_none")]
    state: Option<State>,
    /// New labels, in place of all it has.
    #[serde(default)]
    #[schemars(with = "Vec<String>", skip_serializing_if = "Option::is_none")]
    labels: Option<Vec<String>>,
    /// Who is to work on it now; the empty text means nobody.
    #[serde(default)]
    #[schemars(with = "String", skip_serializing_if = "Option::is_none")]
    assignee: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct AddComment {
    /// The issue's number.
    id: u32,
    /// What to say.
    text: String,
    /// Who says it; "agent" by default.
    #[serde(default)]
    #[schemars(with = "String", skip_serializing_if = "Option::is_none")]
    author: Option<String>,
}

#[tool_router]
impl Demo {
    pub(crate) fn new() -> Self {
        Self { tracker: Arc::new(Mutex::new(Tracker::new())), router: Self::tool_router() }
    }

    /// Lists all projects, each with its description, its lead and the number of its open issues.
    #[tool(annotations(title = "List projects", read_only_hint = true, open_world_hint = false))]
    async fn list_projects(&self) -> Json<ProjectList> {
        Json(ProjectList { projects: self.tracker().projects() })
    }

    /// Lists issues, newest first, without their bodies and comments. Can be narrowed by project,
    /// state, label and assignee.
    #[tool(annotations(title = "List issues", read_only_hint = true, open_world_hint = false))]
    async fn list_issues(&self, Parameters(asked): Parameters<ListIssues>) -> Result<Json<IssueList>, String> {
        let ListIssues { project, state, label, assignee, limit } = asked;
        let issues = self.tracker().list(&Filter { project, state, label, assignee });
        issues.map(|issues| Json(IssueList::first(issues, limit))).map_err(refused)
    }

    /// Finds issues whose title, body, labels or comments hold every word of a query.
    #[tool(annotations(title = "Search issues", read_only_hint = true, open_world_hint = false))]
    async fn search_issues(&self, Parameters(asked): Parameters<SearchIssues>) -> Result<Json<IssueList>, String> {
        let issues = self.tracker().search(&asked.query);
        issues.map(|issues| Json(IssueList::first(issues, asked.limit))).map_err(refused)
    }

    /// Gives one issue with its body and all comments.
    #[tool(annotations(title = "Get an issue", read_only_hint = true, open_world_hint = false))]
    async fn get_issue(&self, Parameters(asked): Parameters<GetIssue>) -> Result<Json<Issue>, String> {
        self.tracker().get(asked.id).cloned().map(Json).map_err(refused)
    }

    /// Creates an open issue in a project, and gives it back with its number.
    #[tool(annotations(
        title = "Create an issue",
        read_only_hint = false,
        destructive_hint = false,
        idempotent_hint = false,
        open_world_hint = false
    ))]
    async fn create_issue(&self, Parameters(asked): Parameters<CreateIssue>) -> Result<Json<Issue>, String> {
        let CreateIssue { project, title, body, labels, assignee } = asked;
        let change = Change { body, labels, assignee, ..Change::default() };
        self.tracker().create(project, title, change).map(Json).map_err(refused)
    }

    /// Changes an issue's title, body, state, labels or assignee, and gives it back. What is not
    /// named stays as it is.
    #[tool(annotations(
        title = "Update an issue",
        read_only_hint = false,
        destructive_hint = true,
        idempotent_hint = true,
        open_world_hint = false
    ))]
    async fn update_issue(&self, Parameters(asked): Parameters<UpdateIssue>) -> Result<Json<Issue>, String> {
        let UpdateIssue { id, title, body, state, labels, assignee } = asked;
        self.tracker().update(id, Change { title, body, state, labels, assignee }).map(Json).map_err(refused)
    }

    /// Adds a comment to an issue, and gives the issue back.
    #[tool(annotations(
        title = "Add a comment",
        read_only_hint = false,
        destructive_hint = false,
        idempotent_hint = false,
        open_world_hint = false
    ))]
    async fn add_comment(&self, Parameters(asked): Parameters<AddComment>) -> Result<Json<Issue>, String> {
        let author = asked.author.unwrap_or_else(|| "agent".to_owned());
        self.tracker().comment(asked.id, author, asked.text).map(Json).map_err(refused)
    }

    fn tracker(&self) -> MutexGuard<'_, Tracker> {
        self.tracker.lock()
    }
}

#[tool_handler(
    router = self.router,
    name = "belljar-demo",
    instructions = "An issue tracker in memory, for trying things out. Its data are made up and live as long as the connection."
)]
impl ServerHandler for Demo {
    // The defaults would answer with empty lists of what this server does not have.
    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "prompts/list", None))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "resources/list", None))
    }
}

impl IssueList {
    fn first(mut issues: Vec<IssueSummary>, limit: Option<u32>) -> Self {
        let total = issues.len();
        issues.truncate(usize::try_from(limit.unwrap_or(DEFAULT_LIMIT)).unwrap_or(usize::MAX));
        Self { issues, total }
    }
}

/// The text of a tool's error result.
fn refused(refusal: Refusal) -> String {
    refusal.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_described_annotated_and_has_both_schemas() {
        let tools = Demo::new().router.list_all();
        assert_eq!(tools.len(), 7);
        for tool in tools {
            let json = serde_json::to_value(&tool).expect("a tool is JSON");
            assert!(tool.description.as_deref().is_some_and(|text| text.len() > 20), "{json}");
            assert_eq!(json["annotations"]["openWorldHint"], false, "{json}");
            assert_eq!(json["outputSchema"]["type"], "object", "{json}");
            assert_eq!(json["inputSchema"]["type"], "object", "{json}");
            // Strict clients flag nullable arguments, and references make declarations hard to
            // read.
            let text = json.to_string();
            assert!(!text.contains("null") && !text.contains("$ref"), "{text}");
        }
    }
}
