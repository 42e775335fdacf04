//! The files of the page: one document, one style sheet and some modules, as they are in `web/`.

/// Each file by its path, with its type.
const FILES: [(&str, &str, &str); 13] = [
    ("/", HTML, include_str!("../web/index.html")),
    ("/style.css", "text/css; charset=utf-8", include_str!("../web/style.css")),
    ("/app.js", SCRIPT, include_str!("../web/app.js")),
    ("/api.js", SCRIPT, include_str!("../web/api.js")),
    ("/dom.js", SCRIPT, include_str!("../web/dom.js")),
    ("/runs.js", SCRIPT, include_str!("../web/runs.js")),
    ("/run.js", SCRIPT, include_str!("../web/run.js")),
    ("/approvals.js", SCRIPT, include_str!("../web/approvals.js")),
    ("/compare.js", SCRIPT, include_str!("../web/compare.js")),
    ("/tools.js", SCRIPT, include_str!("../web/tools.js")),
    ("/rules.js", SCRIPT, include_str!("../web/rules.js")),
    ("/cost.js", SCRIPT, include_str!("../web/cost.js")),
    ("/icon.svg", "image/svg+xml", include_str!("../web/icon.svg")),
];
const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The file at a path, with its type.
pub(crate) fn file(path: &str) -> Option<(&'static str, &'static str)> {
    FILES.iter().find(|(name, ..)| *name == path).map(|(_, kind, text)| (*kind, *text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_small_and_asks_for_nothing_that_is_not_here() {
        let bytes: usize = FILES.iter().map(|(.., text)| text.len()).sum();
        assert!(bytes < 150 * 1024, "{bytes} bytes");
        for (name, _, text) in FILES {
            for far in [
                "http://",
                "https://",
                "//cdn",
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
            ] {
                let text = text.replace("http://www.w3.org/2000/svg", "");
                assert!(!text.contains(far), "{name} has {far}");
            }
        }
        let (_, page) = file("/").expect("there is a page");
        assert!(!page.contains("<script>") && !page.contains("style=") && !page.contains(" onclick"));
        // The page is at the root of its own server, but below a path on another.
        assert!(!page.split('"').any(|text| text.starts_with('/')));
        for (name, _, text) in FILES.iter().filter(|(name, ..)| *name == "/" || name.ends_with(".js")) {
            for quoted in text.split('"').filter_map(|text| text.strip_prefix('.')).filter(|text| text.starts_with('/'))
            {
                assert!(file(quoted).is_some(), "{name} has {quoted}");
            }
        }
    }
}
