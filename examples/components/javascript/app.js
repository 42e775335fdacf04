// Copies the titles of urgent issues from one tracker to another, and says which they are.
//
// jco componentize app.js --wit ../wit --world-name guest --backend quickjs --backend-qjs-stub-wasi -o copy_urgent.wasm
// belljar run copy_urgent.wasm --config ../belljar.toml
import { createIssue } from "belljar:mcp-archive/tools@0.1.0";
import { listIssues } from "belljar:mcp-tracker/tools@0.1.0";

export function run() {
  const copied = [];
  for (const { project, title } of listIssues({ label: "urgent" }).issues) {
    copied.push(createIssue({ project, title }).title);
  }
  return JSON.stringify({ copied });
}
