//! A child's tool list: requested page by page, read entry by entry, and bounded.

use std::{
    collections::{BTreeMap, HashSet},
    time::Duration,
};

use belljar_model::{JsonBounds, JsonText, ToolDefinition};
use rmcp::model::{ClientRequest, ErrorCode, ListToolsRequest, PaginatedRequestParams};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::{
    connection::requests::{Connection, RequestError},
    http::mirrored,
    limits,
};

/// A child's tools, and what was wrong with its list.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Listing {
    pub(crate) tools: Vec<ToolDefinition>,
    /// What an owner should know of entries that are missing from `tools`, on one line.
    pub(crate) complaint: Option<String>,
}

/// Asks for all pages, each of which may take up to `limit`.
pub(crate) async fn list(connection: &Connection, limit: Duration) -> Result<Listing, RequestError> {
    let mut collection = Collection { reads_marks: connection.reads_marks(), ..Collection::default() };
    let mut cursor = None;
    loop {
        let request = match &cursor {
            None => ListToolsRequest::default(),
            cursor => ListToolsRequest::with_param(PaginatedRequestParams::default().with_cursor(cursor.clone())),
        };
        let page = match connection.request(ClientRequest::ListToolsRequest(request), limit.into()).await {
            Ok(page) => page,
            // A server without tools need not support the method.
            Err(RequestError::Protocol { code, .. }) if code == ErrorCode::METHOD_NOT_FOUND.0 && cursor.is_none() => {
                return Ok(Listing::default());
            }
            Err(RequestError::Protocol { message, .. }) if cursor.is_some() => {
                collection.complain(format!("a page could not be read ({message})"));
                return Ok(collection.finish());
            }
            Err(fault) => return Err(fault),
        };
        match collection.add_page(page) {
            Ok(Some(next)) => cursor = Some(next),
            Ok(None) => return Ok(collection.finish()),
            Err(message) => return Err(RequestError::Protocol { code: ErrorCode::INVALID_REQUEST.0, message }),
        }
    }
}

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow, default)]
    tools: Option<Vec<&'a RawValue>>,
    #[serde(default, rename = "nextCursor")]
    next_cursor: Value,
}

/// The list so far.
#[derive(Default)]
pub(crate) struct Collection {
    tools: Vec<ToolDefinition>,
    names: HashSet<String>,
    cursors: HashSet<String>,
    bytes: usize,
    /// Whether arguments go into headers, so that tools with invalid marks are left out.
    reads_marks: bool,
    complaints: BTreeMap<String, usize>,
}

impl Collection {
    /// Adds one page, and returns the cursor of the next.
    pub(crate) fn add_page(&mut self, page: String) -> Result<Option<String>, String> {
        self.bytes = self.bytes.saturating_add(page.len());
        let page = JsonText::parse(page, &JsonBounds::with_bytes(limits::LINE_BYTES))
            .map_err(|fault| format!("its tool list cannot be used: {fault}"))?;
        if !page.as_str().trim_ascii_start().starts_with('{') {
            return Err("its answer is not a tool list".to_owned());
        }
        let page: Page<'_> =
            serde_json::from_str(page.as_str()).map_err(|error| format!("its answer is not a tool list: {error}"))?;
        for entry in page.tools.unwrap_or_default() {
            if self.tools.len() == limits::LIST_TOOLS {
                self.complain(format!("only the first {} tools are kept", limits::LIST_TOOLS));
                return Ok(None);
            }
            self.add_entry(entry);
        }
        let Value::String(cursor) = page.next_cursor else { return Ok(None) };
        if self.bytes > limits::LIST_BYTES {
            self.complain(format!("the list is longer than {} bytes and was cut", limits::LIST_BYTES));
        } else if self.cursors.len() + 1 >= limits::LIST_PAGES {
            self.complain(format!("the list has more than {} pages and was cut", limits::LIST_PAGES));
        } else if !self.cursors.insert(cursor.clone()) {
            self.complain("a page names itself or an earlier one as the next".to_owned());
        } else {
            return Ok(Some(cursor));
        }
        Ok(None)
    }

    fn add_entry(&mut self, entry: &RawValue) {
        let entry: Value = match serde_json::from_str(entry.get()) {
            Ok(entry) => entry,
            Err(error) => return self.complain(format!("an entry cannot be read: {error}")),
        };
        match ToolDefinition::from_json(entry) {
            Ok(tool)
                if self.reads_marks
                    && let Err(complaint) = mirrored::of_schema(&tool.input_schema) =>
            {
                self.complain(complaint);
            }
            Ok(tool) if self.names.insert(tool.name.clone()) => self.tools.push(tool),
            Ok(_) => self.complain("a tool's name is listed twice; the first is kept".to_owned()),
            Err(fault) => self.complain(fault.to_string()),
        }
    }

    fn complain(&mut self, complaint: String) {
        *self.complaints.entry(complaint).or_default() += 1;
    }

    /// The list.
    pub(crate) fn finish(self) -> Listing {
        let complaints = self.complaints.iter().map(|(complaint, count)| match count {
            1 => complaint.clone(),
            count => format!("{complaint} ({count} times)"),
        });
        let complaints: Vec<_> = complaints.take(5).collect();
        let complaint = (!complaints.is_empty()).then(|| format!("in its tool list, {}", complaints.join("; ")));
        Listing { tools: self.tools, complaint }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(pages: &[&str]) -> (Listing, usize) {
        let mut collection = Collection::default();
        for (index, page) in pages.iter().enumerate() {
            if collection.add_page((*page).to_owned()).expect("a page").is_none() {
                return (collection.finish(), index + 1);
            }
        }
        (collection.finish(), pages.len())
    }

    #[test]
    fn a_bad_entry_is_counted_and_hides_no_other() {
        let (listing, _) = collect(&[r#"{"tools":[{"name":"a"},{},{"title":"x"},1,{"name":"b"},{"name":"a"}]}"#]);
        assert_eq!(listing.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(
            listing.complaint.as_deref(),
            Some(
                "in its tool list, a tool definition has no name (2 times); a tool definition is not a JSON object; \
                 a tool's name is listed twice; the first is kept"
            )
        );
    }

    #[test]
    fn a_repeating_cursor_ends_the_list() {
        let first = r#"{"tools":[{"name":"a"}],"nextCursor":"1"}"#;
        let second = r#"{"tools":[{"name":"b"}],"nextCursor":"2"}"#;
        let third = r#"{"tools":[],"nextCursor":"1"}"#;
        let (listing, pages) = collect(&[first, second, third, first, second]);
        assert_eq!((listing.tools.len(), pages), (2, 3));
        assert!(listing.complaint.is_some());
    }

    #[test]
    fn a_list_that_is_none_is_a_fault_and_an_empty_one_is_not() {
        assert!(Collection::default().add_page(r#"{"tools":{"a":1}}"#.to_owned()).is_err());
        assert!(Collection::default().add_page("[]".to_owned()).is_err());
        assert_eq!(collect(&[r#"{"tools":null,"nextCursor":null}"#]).0, Listing::default());
        assert_eq!(collect(&["{}"]).0, Listing::default());
    }

    #[test]
    fn a_list_without_end_is_cut() {
        let mut collection = Collection::default();
        let mut pages = 0;
        while collection.add_page(format!(r#"{{"tools":[],"nextCursor":"{pages}"}}"#)).expect("a page").is_some() {
            pages += 1;
        }
        assert!(pages <= limits::LIST_PAGES);
        assert!(collection.finish().complaint.is_some());
    }
}
