//! Copies the titles of urgent issues from one tracker to another, and says which they are.
//!
//! ```sh
//! cargo build --release --target wasm32-wasip2
//! belljar run target/wasm32-wasip2/release/copy_urgent.wasm --config ../belljar.toml
//! ```

wit_bindgen::generate!({ path: "../wit", world: "guest", generate_all });

use belljar::{
    mcp_archive::{tools as archive, types::CreateIssueArgs},
    mcp_tracker::{tools as tracker, types::ListIssuesArgs},
};

struct Component;

impl Guest for Component {
    fn run() -> Result<String, String> {
        let urgent = ListIssuesArgs {
            label: Some("urgent".to_owned()),
            project: None,
            state: None,
            assignee: None,
            limit: None,
        };
        let found = tracker::list_issues(&urgent).map_err(|error| error.message)?;
        let mut copied = Vec::new();
        for issue in found.issues {
            let copy = CreateIssueArgs {
                project: issue.project,
                title: issue.title,
                body: None,
                labels: None,
                assignee: None,
            };
            copied.push(archive::create_issue(&copy).map_err(|error| error.message)?.title);
        }
        Ok(serde_json::json!({ "copied": copied }).to_string())
    }
}

export!(Component);
