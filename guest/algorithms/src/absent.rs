//! What other runtimes have and the jar has not, and what serves instead.

const NO_NETWORK: &str =
    "there is no network in here: call a tool that fetches; tools.search(\"fetch a url\") finds one";
const NO_MODULES: &str = "there are no modules in here: the tools are global objects, one per server; see tools.list()";
const NO_FILES: &str =
    "there are no files in here: call a tool that reads or writes them; tools.search(\"read a file\") finds one";
const NO_STORE: &str = "nothing is kept from one run to the next in here: use a variable, or call a tool that stores";
const NO_DIALOGUE: &str = "there is nobody to ask or to tell in here: return the value, or console.log it";
const RETURN: &str = "there are no modules in here: return the value instead of exporting it";

/// Names, and what serves instead.
const ABSENT: &[(&[&str], &str)] = &[
    (&["fetch", "XMLHttpRequest", "axios", "Request", "Response", "Headers", "FormData", "EventSource"], NO_NETWORK),
    (&["WebSocket"], "there is no network in here: call a tool instead; tools.list() names them"),
    (&["require", "createRequire"], NO_MODULES),
    (&["module", "exports"], RETURN),
    (&["fs", "fsp", "path", "os"], NO_FILES),
    (&["__dirname", "__filename"], "a script is not a file here, and has no folder: give paths to tools in full"),
    (&["process"], "there is no process and no environment in here: what you need must come from a tool"),
    (
        &["child_process", "exec", "execSync", "spawn"],
        "no program can be started in here: call a tool that runs commands; tools.search(\"run a command\") finds one",
    ),
    (&["Deno"], "there is no Deno in here: the tools are global objects, one per server; see tools.list()"),
    (&["Bun"], "there is no Bun in here: the tools are global objects, one per server; see tools.list()"),
    (
        &["Buffer"],
        "there is no Buffer in here: use Uint8Array, TextEncoder and TextDecoder for UTF-8, btoa and atob for base64",
    ),
    (
        &["Blob", "File", "FileReader"],
        "there is no Blob in here: use text, or Uint8Array with TextEncoder and TextDecoder",
    ),
    (&["global", "self"], "globalThis is the global object in here"),
    (
        &["search_docs"],
        "inside a script, tools.search(\"words\") finds tools, and tools.describe(\"server.tool\") shows one",
    ),
    (&["execute_code"], "this is inside of execute_code already: write the code here"),
    (&["window"], "there is no browser page in here: globalThis is the global object"),
    (
        &["document", "navigator", "location", "history", "DOMParser", "HTMLElement"],
        "there is no browser page in here: call a browser tool; tools.search(\"page\") finds one",
    ),
    (&["localStorage", "sessionStorage", "indexedDB", "caches"], NO_STORE),
    (&["alert", "confirm", "prompt", "print"], NO_DIALOGUE),
    (
        &["Worker", "SharedWorker"],
        "there are no threads in here: await Promise.all([…]) runs calls of tools side by side",
    ),
    (&["WebAssembly"], "there is no WebAssembly in here: write it in JavaScript"),
    (&["_", "lodash"], "there is no lodash in here: Object.groupBy, structuredClone and array methods do most of it"),
    (&["moment", "dayjs"], "there is no such library in here: use Date, Intl.DateTimeFormat or Temporal"),
    (&["$", "jQuery"], "there is no browser page in here: call a browser tool; tools.search(\"page\") finds one"),
];

/// What serves instead of a name that is not there.
pub fn instead_of(name: &str) -> Option<&'static str> {
    ABSENT.iter().find(|(names, _)| names.contains(&name)).map(|(_, hint)| *hint)
}
