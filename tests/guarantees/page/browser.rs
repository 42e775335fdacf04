//! Chromium, as a person uses it: it opens a file, is resized, clicked and looked at.

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader, Lines, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};
use zune_png::{PngDecoder, zune_core::bytestream::ZCursor};

use crate::support::repository;

/// How long the page may take to become what a test waits for, in milliseconds of its own clock.
const PATIENCE: u32 = 30_000;

/// A browser with one tab. It ends when this is dropped.
pub(crate) struct Browser {
    bridge: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    asked: u64,
    session: Option<String>,
    _profile: tempfile::TempDir,
}

impl Browser {
    pub(crate) fn new() -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut bridge = Command::new("node")
            .arg(repository().join("tests/servers/browser.mjs"))
            .arg(profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (bridge.stdin.take().unwrap(), BufReader::new(bridge.stdout.take().unwrap()).lines());
        let mut browser = Self { bridge, input, output, asked: 0, session: None, _profile: profile };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].take();
        let attached = browser.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        browser.call("Page.enable", json!({}));
        browser
    }

    /// Calls a method of the DevTools protocol.
    fn try_call(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.asked += 1;
        let mut message = json!({ "id": self.asked, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        writeln!(self.input, "{message}").unwrap();
        loop {
            let line = self.output.next().expect("the browser lives").unwrap();
            let mut answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == self.asked {
                return match answer.get("error") {
                    Some(error) => Err(error.to_string()),
                    None => Ok(answer["result"].take()),
                };
            }
        }
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.try_call(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Opens an address.
    pub(crate) fn open(&mut self, url: &str) {
        self.call("Page.navigate", json!({ "url": url }));
    }

    /// Loads the page again, and waits until the new page is there: the old one goes on answering
    /// for a while.
    pub(crate) fn reload(&mut self) {
        self.value("globalThis.isLeft = true; location.reload()");
        self.until("!globalThis.isLeft && document.readyState === 'complete'");
    }

    /// The size of the window, and the colours that its user prefers.
    pub(crate) fn becomes(&mut self, width: u32, height: u32, scheme: &str) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size);
        let feature = |name: &str, value: &str| json!({ "name": name, "value": value });
        let features = [feature("prefers-color-scheme", scheme), feature("prefers-reduced-motion", "reduce")];
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// The value of an expression in the page, which may be a promise.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        self.try_value(expression).unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    fn try_value(&mut self, expression: &str) -> Result<Value, String> {
        let asked = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut found = self.try_call("Runtime.evaluate", asked)?;
        match found.get("exceptionDetails") {
            Some(details) => Err(details.to_string()),
            None => Ok(found["result"]["value"].take()),
        }
    }

    /// Waits until an expression is true in the page, whichever page that is by then.
    pub(crate) fn until(&mut self, condition: &str) {
        let look = format!(
            "new Promise((end) => {{ const began = performance.now(); const look = () => {{ let is = false; try {{ is = {condition} }} \
             catch {{}} if (is) end(true); else if (performance.now() - began > {PATIENCE}) end(document.body?.innerText ?? ''); \
             else setTimeout(look, 20); }}; look(); }})"
        );
        // When a page is left, its promises are lost.
        let mut left = Err(String::new());
        for _ in 0..20 {
            left = self.try_value(&look);
            if let Ok(found) = &left {
                assert_eq!(found, &json!(true), "it never came to {condition}");
                return;
            }
        }
        panic!("{condition}: {left:?}");
    }

    /// Presses what a selector finds.
    pub(crate) fn press(&mut self, selector: &str) {
        self.until(&format!("!!document.querySelector({selector:?})"));
        self.value(&format!("document.querySelector({selector:?}).click()"));
    }

    /// Keeps a picture of the whole page, for people, and returns it.
    pub(crate) fn picture(&mut self, path: &Path, (width, scheme): (u32, &str)) -> Picture {
        // What is outside of the window is not painted.
        let end = "Math.ceil(document.querySelector('main').lastElementChild.getBoundingClientRect().bottom + scrollY)";
        let high = self.value(end).as_u64().unwrap().clamp(900, 8000);
        self.becomes(width, u32::try_from(high).unwrap(), scheme);
        self.value("new Promise((end) => requestAnimationFrame(() => requestAnimationFrame(end)))");
        // Parts that had not been painted may now have another height.
        let end = self.value(end).as_u64().unwrap();
        let taken = self.call("Page.captureScreenshot", json!({ "format": "png" }))["data"].take();
        self.becomes(width, 900, scheme);
        let bytes = from_base64(taken.as_str().unwrap());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, &bytes).unwrap();
        Picture::of(bytes, usize::try_from(end).unwrap())
    }

    /// What axe-core finds that is serious or critical.
    pub(crate) fn barriers(&mut self) -> Value {
        if self.value("typeof axe") == "undefined" {
            let axe = repository().join("tests/servers/node_modules/axe-core/axe.min.js");
            let source = std::fs::read_to_string(&axe).unwrap_or_else(|_| panic!("run npm ci in tests/servers"));
            self.value(&format!("{source}; true"));
        }
        self.value(
            "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations \
             .filter(({ impact }) => impact === 'serious' || impact === 'critical') \
             .map(({ id, nodes }) => ({ id, at: nodes.slice(0, 3).map((node) => [node.html, node.failureSummary]) })))",
        )
    }

    fn try_call_quietly(&mut self, method: &str) -> std::io::Result<()> {
        writeln!(self.input, "{}", json!({ "id": 0, "method": method }))?;
        // The bridge ends with its browser.
        self.output.by_ref().for_each(drop);
        Ok(())
    }
}

/// What is visible in each line of a picture.
pub(crate) struct Picture {
    /// Colours of each line down to the end of the content.
    colours: Vec<usize>,
}

impl Picture {
    fn of(bytes: Vec<u8>, end: usize) -> Self {
        let mut decoder = PngDecoder::new(ZCursor::new(bytes));
        let pixels = decoder.decode_raw().unwrap();
        let (width, height) = decoder.dimensions().unwrap();
        let line = pixels.len() / height;
        let colours = |line: &[u8]| line.chunks(line.len() / width).collect::<BTreeSet<_>>().len();
        Self { colours: pixels.chunks(line).take(end).map(colours).collect() }
    }

    /// The most consecutive lines without text: paper and frames have few colours, and the edges of
    /// letters have many.
    pub(crate) fn emptiest(&self) -> usize {
        self.colours.split(|colours| *colours >= TEXT_COLOURS).map(<[usize]>::len).max().unwrap_or(0)
    }
}

/// Colours in a line with text.
const TEXT_COLOURS: usize = 8;

impl Drop for Browser {
    fn drop(&mut self) {
        // One that has ended already cannot be killed.
        let _ = self.try_call_quietly("Browser.close");
        let _ = self.bridge.kill();
        let _ = self.bridge.wait();
    }
}

fn from_base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for byte in text.bytes().filter(|byte| *byte != b'=') {
        bits = bits << 6 | u32::from(digit(byte));
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).unwrap());
        }
    }
    bytes
}
