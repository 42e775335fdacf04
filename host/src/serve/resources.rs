//! Artifacts as resources of MCP: `belljar://artifacts/ID`, only for the principal of the request.

use std::sync::Arc;

use belljar_ledger::{ArtifactEntry, Holder};
use belljar_model::{ArtifactId, ArtifactKind, artifact_uri, base64};
use rmcp::{
    ErrorData, RoleServer,
    model::{
        ErrorCode, ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams, ReadResourceResult,
        Resource, ResourceContents, ResourceTemplate,
    },
    service::RequestContext,
};
use tokio::sync::Semaphore;

use super::{execute::Runs, requester::principal, scopes::may_run};
use crate::artifacts::{KeptArtifacts, Unread};

/// How many resources a page has.
const PAGE: u32 = 100;
/// The largest resource, in bytes. Scripts read larger artifacts in parts.
const MAX_RESOURCE_BYTES: u64 = 8 << 20;
/// How many resources are read at once, by all clients of this process: the bytes of each are in
/// memory several times while its answer is made.
static READS: Semaphore = Semaphore::const_new(4);
/// The beginning of each resource's address.
const BEGIN: &str = "belljar://artifacts/";

impl Runs {
    /// The artifacts, and the holder whose artifacts the client may see.
    async fn artifacts(&self, context: &RequestContext<RoleServer>) -> Result<(KeptArtifacts, Holder), ErrorData> {
        let Some(artifacts) = self.backends.artifacts() else {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "resources are not supported", None));
        };
        may_run(context)?;
        let principal = principal(context).map(Arc::from);
        let workspace = self.workspaces.of(context).await.into();
        Ok((artifacts, Holder { principal, workspace }))
    }

    pub(super) async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: &RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let (artifacts, holder) = self.artifacts(context).await?;
        let cursor = request.and_then(|request| request.cursor);
        let before = cursor.map(|cursor| cursor.parse::<ArtifactId>()).transpose();
        let before = before.map_err(|_| ErrorData::invalid_params("the cursor is not one of this server", None))?;
        let entries = artifacts.page(&holder, before, PAGE).await.map_err(refused)?;
        let is_full = entries.len() >= PAGE as usize;
        let last = entries.last().filter(|_| is_full).map(|entry| entry.id.to_string());
        let listed = ListResourcesResult::with_all_items(entries.iter().map(resource).collect());
        Ok(ListResourcesResult { next_cursor: last, ..listed })
    }

    pub(super) async fn resource_templates(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.artifacts(context).await?;
        let template = ResourceTemplate::new(format!("{BEGIN}{{id}}"), "artifact");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    pub(super) async fn read_resource(
        &self,
        uri: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<ReadResourceResult, ErrorData> {
        let (artifacts, holder) = self.artifacts(context).await?;
        let id = uri.strip_prefix(BEGIN).and_then(|id| id.parse::<ArtifactId>().ok());
        let id = id.ok_or_else(|| refused(Unread::NotThere))?;
        let _turn = READS.acquire().await.map_err(|closed| ErrorData::internal_error(closed.to_string(), None))?;
        let (entry, content) = artifacts.read(&holder, id, MAX_RESOURCE_BYTES).await.map_err(refused)?;
        let (uri, mime) = (artifact_uri(id), mime_of(&entry));
        let contents = match (entry.kind, String::from_utf8(content)) {
            (ArtifactKind::Value | ArtifactKind::Text, Ok(text)) => ResourceContents::text(text, uri),
            (_, content) => {
                let bytes = content.map_or_else(std::string::FromUtf8Error::into_bytes, String::into_bytes);
                ResourceContents::blob(base64(&bytes), uri)
            }
        };
        Ok(ReadResourceResult::new(vec![contents.with_mime_type(mime)]))
    }
}

fn resource(entry: &ArtifactEntry) -> Resource {
    let name = entry.name.as_ref().map_or_else(|| entry.id.to_string(), ToString::to_string);
    let resource = Resource::new(artifact_uri(entry.id), name).with_mime_type(mime_of(entry)).with_size(entry.bytes);
    match entry.run {
        Some(run) => resource.with_description(format!("{} of {run}", entry.kind.as_str())),
        None => resource,
    }
}

fn mime_of(entry: &ArtifactEntry) -> String {
    let otherwise = match entry.kind {
        ArtifactKind::Value => "application/json",
        ArtifactKind::Text => "text/plain",
        ArtifactKind::Blob => "application/octet-stream",
    };
    entry.mime.clone().unwrap_or_else(|| otherwise.to_owned())
}

/// What a client is told. An artifact of another principal is reported like one that never existed.
fn refused(unread: Unread) -> ErrorData {
    let message = unread.to_string();
    match unread {
        Unread::NotThere => ErrorData::resource_not_found(message, None),
        Unread::TooLarge { .. } => ErrorData::invalid_params(message, None),
        Unread::Withheld(_) | Unread::Failed(_) => ErrorData::internal_error(message, None),
    }
}
