"""Copies the titles of urgent issues from one tracker to another, and says which they are.

componentize-py -d ../wit -w guest componentize app -o copy_urgent.wasm
belljar run copy_urgent.wasm --config ../belljar.toml
"""

import json

from componentize_py_types import Err
from wit_world.imports import belljar_mcp_archive_tools as archive
from wit_world.imports import belljar_mcp_tracker_tools as tracker
from wit_world.imports.belljar_mcp_archive_types import CreateIssueArgs
from wit_world.imports.belljar_mcp_tracker_types import ListIssuesArgs


class WitWorld:
    def run(self) -> str:
        try:
            found = tracker.list_issues(
                ListIssuesArgs(label="urgent", project=None, state=None, assignee=None, limit=None)
            )
            copied = []
            for issue in found.issues:
                copy = CreateIssueArgs(
                    project=issue.project, title=issue.title, body=None, labels=None, assignee=None
                )
                copied.append(archive.create_issue(copy).title)
        except Err as error:
            raise Err(error.value.message) from None
        return json.dumps({"copied": copied})
