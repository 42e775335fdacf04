//! What `--help` shows besides the options: examples, and what the options do not say.
//!
//! A paragraph is one line, since clap breaks lines to the width of the terminal.

pub(crate) const BELLJAR: &str = "\
Examples:
  belljar run --code 'return (await demo.list_projects({})).projects.length'
                                    try it: without a configuration there is a built-in demo server
  belljar run script.ts             run a script with the configured MCP servers
  belljar search 'open a page'      find tools on all servers
  belljar call fs.list_directory --input '{\"path\": \".\"}'
  belljar serve                     serve MCP with two tools: search_docs and execute_code

Configuration: --config FILE, else $BELLJAR_CONFIG, else ~/.config/belljar/belljar.toml, else the built-in demo.
FILE is a belljar.toml, or the JSON file of any MCP client (claude_desktop_config.json, .mcp.json, mcp.json).";

pub(crate) const RUN: &str = "\
In the script, each server is a global object with an async function per tool, as in await fs.read_file({ path }). \
tools.list(), tools.search(query) and tools.describe(path) show the available tools. The value of the run is what \
the script returns, or else the value of its last expression.

Examples:
  belljar run script.ts
  belljar run --code 'return (await demo.list_projects({})).projects.length'
  belljar run script.ts --record run.belljar
  generate-script | belljar run - --json --timeout 20s

Exit code: 0 the script succeeded; 1 it failed; 2 wrong usage or configuration; 3 belljar itself failed; 4 the run \
waits for your decision about calls: continue it with belljar resume. The value goes to stdout; logs, calls, usage \
and errors go to stderr. With --json, everything is in one object on stdout.";

pub(crate) const ROUTE: &str = "\
A score adds up points for the words of a project that occur in yours: its name 20, a hint 10, a concern 5, a \
language 3. The project with the best score is chosen if that is at least 10; otherwise the default project, if \
there is one. Scripts get the same from tools.route(server, words).

Examples:
  belljar route serena 'the asset handler in the Go backend'
  belljar route serena --json where are invoices rounded

Exit code: 0 a project fits; 1 none fits; 2 wrong usage or configuration.";

pub(crate) const REPLAY: &str = "\
A recording contains the inputs of a run: its source, its seed, the answers of tools, the readings of clocks. The \
replay takes all of these from the recording: no server is started, no tool is called, and the value, the logs, the \
calls and the fuel are the same as in the run. If something differs, the replay stops at the first difference and \
shows it.

Examples:
  belljar run script.ts --record run.belljar
  belljar replay run.belljar
  belljar replay run.belljar --source changed.ts
  belljar replay run.belljar --fixture tests/run.belljar.jsonl

With --source, another script is run against the recorded answers, so that you can correct it without calling any \
tool. A call is answered if its tool and arguments are those of a recorded call; any other call fails with an error \
that says so. A read-only call may be made more than once. Time is simulated: calls take as long as they did in the \
run, but nobody waits.

To repeat the run of a component, pass the file that was run with --component guest.wasm: the recording does not \
contain it.

Exit code: 0 the run was repeated, and had succeeded; 1 it had failed, or the replay differs ('diverged'); 2 the file is not a \
recording, or its limits are above the configured ones; 3 belljar itself failed.";

pub(crate) const RUNS: &str = "\
The ledger has every run of this user, whichever command or client asked for it: when it ran, how it ended, and the \
tool, effect, sizes and times of each call. It contains no values, unless [ledger] level is \"recordings\". A run \
whose process was killed is 'interrupted'; its unanswered calls may have taken effect, and are not sent again \
automatically.

Examples:
  belljar runs --failed --since 2h
  belljar runs --tool stripe.refund
  belljar runs --waiting --client laptop
  belljar runs show r_0123456789abc
  belljar runs diff r_0123456789abc r_cba9876543210
  belljar run script.ts --ledger recordings, and then: belljar replay RUN, belljar runs export RUN -o run.belljar
  belljar runs export r_0123 --fixture -o tests/refund.belljar.jsonl, and then: belljar test tests/
  belljar runs purge --before 7d

The beginning of a run's name is enough, except for purge.

Exit code: 0 done; 1 no such run, or the two runs differ; 2 wrong usage; 3 the ledger cannot be read.";

pub(crate) const TEST: &str = "\
Each file is a recorded run that is repeated without its servers: a recording (*.belljar), or a fixture \
(*.belljar.jsonl), which has the same content as text that is readable in a diff. Folders are searched for both. An \
exact test must make the same calls in the same order. In a loose test, calls are answered by tool and arguments, \
and the script must end with the same result.

Examples:
  belljar run script.ts --record run.belljar
  belljar replay run.belljar --fixture tests/run.belljar.jsonl
  belljar replay run.belljar --source script.ts --fixture tests/script.belljar.jsonl
  belljar test tests/

The second fixture is loose and names script.ts: after you edit the script, the test shows whether its result is \
still the same.

Exit code: 0 all are equal; 1 something differs; 2 wrong usage, or a file that is neither a recording nor a fixture; \
3 belljar itself failed.";

pub(crate) const SERVE: &str = "\
An MCP client starts this command, and ends it by closing its stdin. However many servers are behind it, the client \
sees two tools.

Example, as the entry of a client's mcpServers:
  \"belljar\": { \"command\": \"belljar\", \"args\": [\"serve\"] }

With --daemon it uses the daemon's servers: warm, with their state, and shared with commands and other clients. \
Requests of these servers to a client (sampling, elicitation, roots) then do not reach it.

With --http it serves streamable HTTP at /mcp, in the protocol revisions with sessions and in 2026-07-28 without, \
and /healthz and /readyz for probes. Each request needs a token from 'belljar token add', on the loopback too; while \
there is no token, other addresses are refused. Leave TLS to a proxy: see docs/DEPLOY.md. Each principal has its own \
instance of each server, unless the server has share = \"owner\".
  belljar serve --http
  belljar serve --http 0.0.0.0:8765 --allow-host mcp.example.com
  belljar serve --socket $XDG_RUNTIME_DIR/belljar-mcp.sock

Exit code: 0 the client or a signal ended it; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const HOST: &str = "\
A program in any language starts this command and exchanges JSON-RPC messages with it, one per line: the program \
sends scripts to run, any number at once, and serves the calls that they make. No configuration is needed. A run can \
call belljar's own tools only if the program asks for them, and your rules apply to these calls. The protocol is in \
docs/HOST_PROTOCOL.md. The command ends when its stdin is closed.

Example, as typed:
  {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":{\"protocol\":1}}
  {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"run\",\"params\":{\"code\":\"add(1,2)\",\"functions\":[{\"name\":\"add\",\"style\":\"positional\"}]}}
  {\"jsonrpc\":\"2.0\",\"id\":\"c1.0\",\"result\":{\"value\":3}}

Exit code: 0 its stdin was closed, or a signal ended it; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const APPROVE: &str = "\
It shows the call, its arguments as they would be sent, the rule, and what the run did so far, and asks you to type \
a code that only this terminal shows. The decision is for this call only: it does not count for other arguments, or \
after the tool's definition or the rule has changed. A question expires with its run, or after [approvals] wait. A \
run that was put aside in the meantime continues with belljar resume, or when its client asks for it again.

With several names, or the name of a run, you decide about all of these questions at once. --any-arguments approves \
the tool, as it is defined now, with any arguments under this rule, for the rest of the run; the rules still check \
each call.

  belljar approvals
  belljar approve a_0fx3
  belljar approve r_6h0z --any-arguments";

pub(crate) const UI: &str = "\
The daemon serves the page on the loopback, at its own port, from the first belljar ui until the daemon ends. The \
browser gets a ticket that works once from a file that only you can read; the command waits until the page has used \
it, and removes the file. To reopen the page, run the command again. On the page you can do what you can do at a \
terminal: look at runs, and decide about calls that wait.

  belljar ui
  belljar ui --no-open

Exit code: 0 the page was opened; 1 nobody opened it within two minutes; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const TOP: &str = "\
It shows the daemon's runs, as the page does. The arrow keys select a run, Enter shows its calls, Esc goes back, and \
q quits. Without a terminal, or with --json, it prints the current state once. For finished runs, use belljar runs.

  belljar top
  belljar top --json

Exit code: 0; 1 no daemon is running for this configuration; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const RESUME: &str = "\
What the run did is repeated from its record, without calling anything; then the calls that you approved are sent, \
the others fail, and the script continues. At a terminal, you are asked about calls that you have not decided yet. \
If nothing is decided, the run keeps waiting.

A run that was interrupted after it had sent calls that may have changed something does not continue by itself: with \
--assume you say whether the unanswered calls were done or failed, and type a code. None of them is sent again. The \
rules are in docs/APPROVALS.md.

  belljar resume r_0123456789abc
  belljar resume r_0123456789abc --assume failed

Exit code: as for belljar run.";

pub(crate) const TOKEN: &str = "\
To add, rotate or remove a token, you type a code that only your terminal shows. A running server notices changes \
within two seconds. Only hashes are stored, in a file in belljar's state folder that only the user can read.

Scopes: search (search_docs), run (execute_code), run:read-only (execute_code with tools that the owner declares \
read-only), metrics (GET /metrics), admin (everything).

Examples:
  belljar token add laptop
  belljar token add ci --scope run:read-only
  belljar token rotate laptop

Exit code: 0 done; 2 wrong usage, or the file cannot be used; 3 belljar itself failed.";

pub(crate) const SKILLS: &str = "\
A named script is a file skills/NAME.ts or .js beside belljar.toml, or in a folder listed in '[skills] folders': a \
comment that says what it does, and export default async (args: { repo: string; since?: string }) => … Other scripts \
call it as await skills.NAME(args), and models find it with search_docs. It runs as part of the run that calls it, \
with that run's limits, rules and record.

To save one, you type a code that only your terminal shows, so a model cannot pass its own code on to later runs.

Examples:
  belljar skills list
  belljar skills check
  belljar run triage.ts --ledger recordings
  belljar skills save triage --run r_0123456789abc
  belljar skills run triage --input '{\"repo\": \"belljar\"}'

Exit code: 0 done; 1 a script cannot be called, or its run failed; 2 wrong usage or configuration; 3 belljar itself \
failed.";

pub(crate) const KEEP: &str = "\
A value that a script assigns to keep.NAME is available to later runs of the same principal in the same workspace, \
until no run has used it for a week. The workspace of a command is the folder in which it is started; that of an MCP \
client is its first root, if it has any.

Examples:
  belljar run --code 'keep.seen = [1, 2]; keep.$update(\"runs\", (runs) => (runs ?? 0) + 1)'
  belljar keep list
  belljar keep get seen
  belljar keep rm seen
  belljar keep rm --all --workspace /home/ann/shop
  belljar keep list --principal ci --workspace ''

Exit code: 0 done; 1 no such value; 2 wrong usage or configuration; 3 the ledger cannot be used.";

pub(crate) const ARTIFACTS: &str = "\
An artifact is a value, text or bytes that belljar kept because they were too large for the answer to a model, or \
that a script saved. It belongs to a principal in a workspace, and is removed when nobody has used it for a week. \
The workspace of a command is the folder in which it is started; that of an MCP client is its first root, if it has \
any. See docs/ARTIFACTS.md.

A search finds passages that contain all of the words, or else all of them as parts of words. No character is an \
operator; after --, a word may begin with a dash.

Examples:
  belljar artifacts list
  belljar artifacts get a_0123456789abc
  belljar artifacts search connection timeout --limit 3
  belljar artifacts export pages --out pages.json
  belljar artifacts rm a_0123456789abc
  belljar artifacts rm --all --workspace /home/ann/shop

When an artifact is removed or expires, its space in the ledger's file becomes free; 'belljar runs purge --all' \
makes sure that none of its content stays there.

Exit code: 0 done, also if nothing was found; 1 no such artifact; 2 wrong usage or configuration; 3 the ledger \
cannot be used.";

pub(crate) const SEARCH: &str = "\
Examples:
  belljar search                          all servers and their tools
  belljar search read file                tools for these words, best first
  belljar search fs.read_file --detail full
  belljar search --server fs --effect read_only

Exit code: 0, also if nothing was found; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const CALL: &str = "\
Examples:
  belljar call demo.list_projects
  belljar call demo.get_issue --input '{\"id\": 40}'
  belljar call fs.write_file --input @arguments.json
  belljar call demo.list_issues --select '.issues[] | {id, title}'

--select takes a jq filter, and shows each value that the filter returns. With --json, 'value' is this value, or a \
list unless there is exactly one, and 'raw' is null. A filter may use 10 s and 2 GiB of memory, and return 16 MiB or \
100,000 values; an invalid filter is refused before the tool is called. stderr shows roughly how many tokens the \
filter saved.

Exit code: 0 the tool succeeded; 1 it failed; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const REQUEST: &str = "\
A request has: intent (QUERY, ANALYZE, GENERATE, MODIFY, EXECUTE), action (SERVER.TOOL or execute_code), params, and \
optionally effect (READ_ONLY, MUTATING, EXTERNAL_EXEC; by default, the intent determines it), artifact (TEXT, JSON, \
CODE_PY, CODE_TS, PATCH, BINARY), constraints {timeout_ms: 300000, retry_count: 0, isolation: agent or subprocess}, \
context {caller, project_root}.

The answer is {ok: true, request, result: {artifact_type, data, affected_files?, affected_symbols?}, meta: {duration_ms, mcp_name, \
isolation_used, project_root?}}, or {ok: false, request, error: {type, message, recoverable, suggestion}} with one of the types TIMEOUT, MCP_ERROR, \
VALIDATION, PERMISSION, UNKNOWN.

The effect is an upper bound: a tool that may do more is refused. A tool's effect is what the owner declares under \
'effects', or what its server says if the owner trusts it (trust_hints); otherwise it is EXTERNAL_EXEC. Only \
READ_ONLY actions are retried. With isolation agent, the daemon's warm server is used; with subprocess, a server is \
started for this request and stopped afterwards.

context.project_root, an absolute path, chooses the instance of a server whose 'key' is a path, if params leave that \
argument out. affected_files and affected_symbols are read from the places that the server's 'affected' names for \
the tool, or else from members of the result with these names. The owner's rules apply to a request's call as to any \
other, including earlier calls ('after' with 'within') and counts ('measure').

Examples:
  echo '{\"intent\": \"QUERY\", \"action\": \"demo.list_projects\"}' | belljar request
  belljar request request.json

Exit code: 0 it succeeded; 1 TIMEOUT, MCP_ERROR or PERMISSION; 2 VALIDATION, wrong usage or configuration; 3 \
UNKNOWN. In every case, stdout has one JSON object.";

pub(crate) const SERVERS: &str = "\
Examples:
  belljar servers
  belljar servers --stats
  belljar servers --config .mcp.json --json

Exit code: 0, also if a server could not be started; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const DAEMON: &str = "\
One daemon per configuration keeps its servers and their state between commands. The first command that needs a \
server starts the daemon; it ends after 30 minutes without a client, or as [daemon] idle = \"2h\" or \"never\" in \
belljar.toml says. belljar run, call, search, servers and request use it unless --no-daemon is given, or \
BELLJAR_NO_DAEMON=1 is set.

Examples:
  belljar daemon status
  belljar daemon stop --config team.toml

Exit code: 0 done; 1 no daemon is running (status and metrics); 2 wrong usage or configuration; 3 belljar itself \
failed.";

pub(crate) const CHECK: &str = "\
The calls are listed in source order, each with its position, whether it is always or maybe made, whether it is in a \
loop, what it may change, and what your rules say about it. … stands for values that are known only when the script \
runs. The tools come from the lists that belljar keeps on disk; if a server has none yet, `belljar servers` fetches \
it.

Examples:
  belljar check script.ts
  belljar check --code \"await demo.list_issues({ project: 'web' })\"
  belljar check script.ts --json --profile safe

Exit code: 0 no call that is always made is certain to fail; 1 such a call is certain to fail, or the script cannot \
be read; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const POLICY: &str = "\
The rules are in the configuration's [policy] file, or in a policy.toml beside it; docs/POLICY.md has every key. No \
server is started: rules are checked against the lists of tools that belljar keeps on disk, and servers without a \
list are named.

Examples:
  belljar policy check
  belljar policy test --json
  belljar policy explain fs.write_file --input '{\"path\": \"/etc/hosts\"}'
  belljar policy explain stripe.refund --input @refund.json --principal ci --profile safe
  belljar policy accept notion

Exit code: 0 nothing is wrong; 1 a test failed, or something is left to accept; 2 wrong usage or configuration, \
including mistakes in the rules; 3 belljar itself failed.";

pub(crate) const DOCTOR: &str = "\
Starts each server in this process, lists its tools, and reports what is wrong, how to fix it, and which of the \
server's [servers.X.targets] were missed in the last seven days.

Exit code: 0 all is well, or there are only warnings; 1 something is wrong; 2 wrong usage or configuration; 3 \
belljar itself failed.";

pub(crate) const BENCH: &str = "\
Nothing else should be running. No server is started: how much of a model's context the tools take up is counted \
from the lists that belljar keeps on disk, and servers without a list are named (belljar servers starts all servers \
and stores their lists).

Examples:
  belljar bench
  belljar bench --html bench.html
  belljar bench --quick --json

It takes less than a minute. The figures go to stdout; docs/BENCH.md explains each one, and each field of the JSON.

Exit code: 0 measured; 1 interrupted; 2 wrong usage or configuration, or FILE cannot be written; 3 belljar itself failed.";

pub(crate) const ADD: &str = "\
Writes to --config FILE, else $BELLJAR_CONFIG, else ~/.config/belljar/belljar.toml. The server is added at the end; \
everything else in the file stays as it is, and a copy of the previous file is kept beside it. Values may refer to \
variables, as in ${TOKEN}, to keep secrets out of the file: quote them for the shell.

Examples:
  belljar add fs -- npx -y @modelcontextprotocol/server-filesystem /data
  belljar add browser --stateful -- npx -y @playwright/mcp
  belljar add docs --url https://example.com/mcp --header 'Authorization: Bearer ${TOKEN}'

Exit code: 0 added; 2 wrong usage or configuration, or the name is taken; 3 belljar itself failed.";

pub(crate) const REMOVE: &str = "\
The comment right above the server is removed with it. Everything else in the file stays as it is, and a copy of the \
previous file is kept beside it.

Exit code: 0 removed; 2 wrong usage or configuration, or no such server; 3 belljar itself failed.";

pub(crate) const INSTALL: &str = "\
Shows how belljar's entry in the client's file would change, without secrets, and asks before writing; without a \
terminal, nothing is written unless --yes is given. Everything else in the file stays, including comments and order, \
and a copy of the previous file is kept beside it (FILE.before-belljar-1). A file that cannot be read is not \
touched.

Examples:
  belljar install claude-code
  belljar install cursor --yes --config ~/team.toml
  belljar install cursor --undo
  belljar install vscode --http                       # for a running 'belljar serve --http', with a new token
  belljar install cursor --http https://mcp.example.com/mcp --token-name ann --scope search --scope run:read-only
  belljar install claude-code --hooks                 # to guide the agent to belljar: docs/HOOKS.md

Exit code: 0 written, or nothing to change; 1 not confirmed; 2 wrong usage, or a file that cannot be changed; 3 \
belljar itself failed.";

pub(crate) const COMPLETIONS: &str = "\
Examples:
  belljar completions bash > ~/.local/share/bash-completion/completions/belljar
  belljar completions zsh > ~/.zfunc/_belljar
  belljar completions fish > ~/.config/fish/completions/belljar.fish";

pub(crate) const MAN: &str = "\
Examples:
  belljar man | man -l -
  belljar man ~/.local/share/man/man1";

pub(crate) const IMPORT: &str = "\
Shows what would be imported, with whole commands but without secrets, and what would be left out and why. With \
--write, the servers are written to --config FILE, else $BELLJAR_CONFIG, else ~/.config/belljar/belljar.toml, which \
only its owner can read. The content of that file stays, and a copy of it is made first.

The files in your home folder are imported. A file in the current folder (.mcp.json, .cursor/mcp.json, \
.vscode/mcp.json) was written by whoever made that folder, and its commands would run as you: it is shown, but \
imported only if --from names it, or if you confirm it at a terminal.

Examples:
  belljar import                          what all clients have, and what this folder offers
  belljar import --from cursor --write
  belljar import --from .mcp.json --write --config belljar.toml

Exit code: 0, also if nothing was found; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const LOGIN: &str = "\
Prints the address of the login page, and waits until the browser returns from it to this machine. No browser is \
opened. The token is stored in a file that only its owner can read, and renewed when it expires.

Example:
  belljar login notion

Exit code: 0 logged in; 1 the login failed; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const HOOK: &str = "\
It reads from stdin what the client sends to a hook, and prints one JSON object in the format that the client \
expects. The [[hook]] rules in belljar.toml define what it says. It is guidance, not a wall: whatever goes wrong, \
the answer is the client's own \"go on\", with exit code 0. 'belljar install CLIENT --hooks' adds hooks to a \
client's settings; see docs/HOOKS.md.

Examples:
  echo '{\"tool_name\": \"Grep\", \"tool_input\": {\"pattern\": \"class Asset\"}}' | belljar hook claude-code PreToolUse
  belljar hook test transcript.jsonl

Exit code: always 0; for test: 0; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const HOOK_TEST: &str = "\
It assumes that all servers can be used, and remembers nothing from one command to the next.

Examples:
  belljar hook test ~/.claude/projects/PROJECT/SESSION.jsonl
  belljar hook test calls.jsonl --client copilot --json

Exit code: 0; 2 wrong usage or configuration; 3 belljar itself failed.";
