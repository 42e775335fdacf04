//! What `--help` says beyond the list of options: examples, and what cannot be seen from an option.
//!
//! A paragraph is one line, since clap breaks lines to the width of the terminal.

pub(crate) const BELLJAR: &str = "\
Examples:
  belljar run --code 'return (await demo.list_projects({})).projects.length'
                                    try it: without a configuration there is a built-in demo server
  belljar run script.ts             run a script over the configured MCP servers
  belljar search 'open a page'      find tools among all servers
  belljar call fs.list_directory --input '{\"path\": \".\"}'
  belljar serve                     be an MCP server with two tools: search_docs and execute_code

Configuration: --config FILE, else $BELLJAR_CONFIG, else ~/.config/belljar/belljar.toml, else the built-in demo.
FILE is a belljar.toml, or the JSON of any MCP client (claude_desktop_config.json, .mcp.json, mcp.json).";

pub(crate) const RUN: &str = "\
In the script, each server is a global object with an async function per tool, as in await fs.read_file({ path }). \
tools.list(), tools.search(query) and tools.describe(path) say what there is. The value of the run is what is returned, \
or the value of the last expression.

Examples:
  belljar run script.ts
  belljar run --code 'return (await demo.list_projects({})).projects.length'
  generate-script | belljar run - --json --timeout 20s

Exit code: 0 the script succeeded; 1 it failed; 2 wrong usage or configuration; 3 belljar itself failed. \
The value goes to stdout; logs, calls, usage and errors go to stderr, or with --json into the one object on stdout.";

pub(crate) const SERVE: &str = "\
An MCP client starts this command, and ends it by closing its stdin. Whatever the number of servers behind it, the client \
sees two tools.

Example, as the entry of a client's mcpServers:
  \"belljar\": { \"command\": \"belljar\", \"args\": [\"serve\"] }

Exit code: 0 the client or a signal ended it; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const SEARCH: &str = "\
Examples:
  belljar search                          all servers and their tools
  belljar search read file                tools for these words, the best first
  belljar search fs.read_file --detail full
  belljar search --server fs --effect read_only

Exit code: 0, also if nothing was found; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const CALL: &str = "\
Examples:
  belljar call demo.list_projects
  belljar call demo.get_issue --input '{\"id\": 40}'
  belljar call fs.write_file --input @arguments.json

Exit code: 0 the tool succeeded; 1 it failed; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const SERVERS: &str = "\
Examples:
  belljar servers
  belljar servers --config .mcp.json --json

Exit code: 0, also if a server could not be started; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const DAEMON: &str = "\
One daemon per configuration keeps its servers, with their state, between commands. The first command that needs a server \
starts it; it ends by itself after 30 minutes without a client. belljar run, call, search and servers use it unless told \
--no-daemon, or BELLJAR_NO_DAEMON=1 in the environment.

Examples:
  belljar daemon status
  belljar daemon stop --config team.toml

Exit code: 0 done; 1 status: there is none; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const IMPORT: &str = "\
Shows what would be taken, and what would be left out and why. Nothing is written without --write, and then into --config FILE, \
else $BELLJAR_CONFIG, else ~/.config/belljar/belljar.toml, which only its owner can read. What is in that file stays, and a copy \
of it is made first.

Examples:
  belljar import                          what all clients have
  belljar import --from cursor --write
  belljar import --from .mcp.json --write --config belljar.toml

Exit code: 0, also if nothing was found; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const LOGIN: &str = "\
Prints the page on which to log in, and waits until the browser comes back from it to this machine. Nothing is opened by itself. \
The token is kept in a file that only its owner can read, and renewed when it ends.

Example:
  belljar login notion

Exit code: 0 logged in; 1 the login failed; 2 wrong usage or configuration; 3 belljar itself failed.";
