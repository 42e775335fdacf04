//! If other runtimes have something that the sandbox lacks, its absence is explained, and scripts
//! can test for it without an error.

use belljar_model::ErrorKind;
use serde_json::json;

use crate::support::{error, error_of, value};

#[tokio::test]
pub(crate) async fn what_is_absent_says_what_serves_instead() {
    for (source, name, instead) in [
        ("await fetch('https://a.b')", "fetch", "tools.search(\"fetch a url\")"),
        ("const { data } = await axios.get('https://a.b')", "axios", "tools.search(\"fetch a url\")"),
        ("new Headers()", "Headers", "no network"),
        ("new XMLHttpRequest()", "XMLHttpRequest", "tools.search"),
        ("new WebSocket('wss://a.b')", "WebSocket", "no network"),
        ("const fs = require('fs')", "require", "tools.list()"),
        ("module.exports = {}", "module", "return the value"),
        ("exports.a = 1", "exports", "return the value"),
        ("fs.readFileSync('a')", "fs", "tools.search(\"read a file\")"),
        ("return path.join('a', 'b')", "path", "no files"),
        ("return __dirname", "__dirname", "paths to tools in full"),
        ("return process.env.HOME", "process", "no environment"),
        ("execSync('ls')", "execSync", "tools.search(\"run a command\")"),
        ("Deno.readTextFileSync('a')", "Deno", "no Deno"),
        ("Bun.file('a')", "Bun", "no Bun"),
        ("return Buffer.from('a').toString('base64')", "Buffer", "btoa"),
        ("new Blob(['a'])", "Blob", "Uint8Array"),
        ("return window.location", "window", "globalThis"),
        ("return global.x", "global", "globalThis"),
        ("document.querySelector('a')", "document", "tools.search(\"page\")"),
        ("localStorage.setItem('a', 1)", "localStorage", "a variable"),
        ("alert('hi')", "alert", "console.log"),
        ("new Worker('a.js')", "Worker", "Promise.all"),
        ("WebAssembly.compile()", "WebAssembly", "JavaScript"),
        ("return _.groupBy([1], x => x)", "_", "Object.groupBy"),
    ] {
        let error = error(source).await;
        // A call that is certainly made is checked before the script runs.
        assert!(matches!(error.kind, ErrorKind::Exception | ErrorKind::Plan), "{source}\n{error:#?}");
        assert_eq!(error.message.lines().next().unwrap(), format!("ReferenceError: {name} is not defined"), "{source}");
        assert!(error.hint.as_deref().unwrap_or_default().contains(instead), "{source}\n{error:#?}");
        assert_eq!(error.line, Some(1), "{source}\n{error:#?}");
    }
    let error = error_of(ErrorKind::Exception, "await globalThis.fetch('https://a.b')").await;
    assert!(error.hint.as_deref().unwrap_or_default().contains("no network"), "{error:#?}");
}

#[tokio::test]
pub(crate) async fn modules_are_refused_with_what_serves_instead() {
    for source in
        ["import fs from 'fs'", "import { x } from './x.js'; x()", "export * from 'x'", "await import('node:fs')"]
    {
        let error = error(source).await;
        let hint = error.hint.as_deref().unwrap_or_default();
        assert!(error.message.contains("modules"), "{source}\n{error:#?}");
        assert!(hint.contains("tools.list()"), "{source}\n{error:#?}");
    }
}

#[tokio::test]
async fn what_is_absent_can_be_asked_for() {
    let script = "return [typeof fetch, typeof require, typeof process, typeof window, typeof Buffer, 'fetch' in globalThis, \
                  globalThis.fetch === undefined, typeof structuredClone === 'function' && typeof document === 'undefined']";
    assert_eq!(
        value(script).await,
        json!(["undefined", "undefined", "undefined", "undefined", "undefined", false, true, true])
    );
}
