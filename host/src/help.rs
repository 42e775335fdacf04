//! What `--help` shows besides the options: examples, and what an option does not show.
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
  belljar run script.ts --record run.belljar
  generate-script | belljar run - --json --timeout 20s

Exit code: 0 the script succeeded; 1 it failed; 2 wrong usage or configuration; 3 belljar itself failed; \
4 the run waits for your decision about calls, and goes on with belljar resume. \
The value goes to stdout; logs, calls, usage and errors go to stderr, or with --json into the one object on stdout.";

pub(crate) const ROUTE: &str = "\
A score is a sum over the words of a project that stand in yours: its name 20, a hint 10, a concern 5, a language 3. With 10 or more, the \
project with the best score is taken; otherwise the one that is the default, if there is one. Scripts get the same of tools.route(server, words).

Examples:
  belljar route serena 'the asset handler in the Go backend'
  belljar route serena --json where are invoices rounded

Exit code: 0 the words lead to a project; 1 they lead to none; 2 wrong usage or configuration.";

pub(crate) const REPLAY: &str = "\
A recording holds what a run took in: its source, its seed, the answers of tools, the readings of clocks. The replay takes all \
of that from the recording: no server is started, no tool is called, and the value, the logs, the calls and the fuel are those of the run. \
Where they differ, the replay stops at the first difference and names it.

Examples:
  belljar run script.ts --record run.belljar
  belljar replay run.belljar
  belljar replay run.belljar --source changed.ts
  belljar replay run.belljar --fixture tests/run.belljar.jsonl

With --source, another script is run against the recorded answers, to correct it without touching the world. A call is answered \
where its tool and its arguments are those of a recorded call; any other fails and says so. A call that changes nothing may be \
made again. Time is simulated: calls take as long as they did, and nobody waits.

The run of a component is repeated with --component guest.wasm, the very file that was run: it is not in the recording.

Exit code: 0 the run was repeated, and had succeeded; 1 it had failed, or the replay differs ('diverged'); 2 the file is not a \
recording, or its limits are above the configured ones; 3 belljar itself failed.";

pub(crate) const RUNS: &str = "\
The ledger has each run of this user, whichever command or client asked for it: when, how it ended, and of each call the tool, its \
effect, sizes and times. Values are not in it, unless [ledger] level is \"recordings\". A run whose process was killed is \
'interrupted'; its calls without an answer may have taken effect, and nothing is sent again by itself.

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

Exit code: 0 done; 1 there is no such run, or two differ; 2 wrong usage; 3 the ledger cannot be read.";

pub(crate) const TEST: &str = "\
Each file is a recorded run, repeated without its servers: a recording (*.belljar), or a fixture (*.belljar.jsonl), which is the \
same as a text that can be read in a diff. A folder is searched for both. Exact ones must be repeated call by call. The calls of \
loose ones are answered by tool and arguments, and what the script ends in must be the same.

Examples:
  belljar run script.ts --record run.belljar
  belljar replay run.belljar --fixture tests/run.belljar.jsonl
  belljar replay run.belljar --source script.ts --fixture tests/script.belljar.jsonl
  belljar test tests/

The second fixture is loose and names script.ts: edit the script, and the test says whether it still gives the same.

Exit code: 0 all are equal; 1 something differs; 2 wrong usage, or a file that is neither; 3 belljar itself failed.";

pub(crate) const SERVE: &str = "\
An MCP client starts this command, and ends it by closing its stdin. Whatever the number of servers behind it, the client \
sees two tools.

Example, as the entry of a client's mcpServers:
  \"belljar\": { \"command\": \"belljar\", \"args\": [\"serve\"] }

With --daemon the servers are those of the daemon: warm, with what they know, and shared with commands and other clients. What \
servers ask of a client (sampling, elicitation, roots) does not reach it then.

With --http it serves streamable HTTP at /mcp, in the revisions with sessions and in that of 2026-07-28 without, and /healthz and /readyz for probes. \
Each request needs a token of 'belljar token add', on the loopback too; other addresses are refused where there is no token. TLS is \
left to a proxy: see docs/DEPLOY.md. Each principal has its own instance of each server, unless the server has share = \"owner\".
  belljar serve --http
  belljar serve --http 0.0.0.0:8765 --allow-host mcp.example.com
  belljar serve --socket $XDG_RUNTIME_DIR/belljar-mcp.sock

Exit code: 0 the client or a signal ended it; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const HOST: &str = "\
A program in any language starts this command and speaks JSON-RPC with it, one message on a line: it has scripts run, any number at \
once, and serves the calls that they make. It needs no configuration; a run calls belljar's own tools only where the program asks for them, and \
your rules hold for these. docs/HOST_PROTOCOL.md has the protocol. It ends when its stdin is closed.

Example, as typed:
  {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":{\"protocol\":1}}
  {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"run\",\"params\":{\"code\":\"add(1,2)\",\"functions\":[{\"name\":\"add\",\"style\":\"positional\"}]}}
  {\"jsonrpc\":\"2.0\",\"id\":\"c1.0\",\"result\":{\"value\":3}}

Exit code: 0 its stdin was closed, or a signal ended it; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const APPROVE: &str = "\
It shows the call, its arguments as they would be sent, the rule, and what the run did so far, and wants a code typed that only this \
terminal shows. The decision is for this call: with other arguments, or when the tool's definition or the rule has changed, it counts for \
nothing. What waits ends with its run, or when [approvals] wait has passed. A run that was put aside meanwhile goes on with belljar \
resume, or when its client asks for it again.

Several names, or that of a run, decide about all of them at once. --any-arguments agrees to any arguments of the tool under the rule, \
as it is defined now, for the rest of the run; the rules are asked about each call all the same.

  belljar approvals
  belljar approve a_0fx3
  belljar approve r_6h0z --any-arguments";

pub(crate) const UI: &str = "\
The daemon serves the page on the loopback, at a port of its own, from the first belljar ui until it ends. A file that only you can read \
brings the browser a ticket that is good once; the command waits until the page has used it, and removes the file. Reopen the page with the same \
command. What you can do there is what you can do at a terminal: look at runs, and decide about calls that wait.

  belljar ui
  belljar ui --no-open

Exit code: 0 the page was opened; 1 nobody opened it within two minutes; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const TOP: &str = "\
It shows the runs of the daemon, as its page does. The arrows choose a run, Enter shows its calls, Esc goes back, and q ends it. Without a \
terminal, or with --json, it prints what there is now, once; belljar runs has what is over.

  belljar top
  belljar top --json

Exit code: 0; 1 no daemon is running for this configuration; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const RESUME: &str = "\
What the run did is repeated from what was kept of it, without calling anything; then the calls that you approved are sent, the others fail, \
and the script goes on. At a terminal, what you have not decided is asked there. Where nothing is decided, the run waits on.

A run that was interrupted after it had sent calls that may have changed something does not go on by itself: --assume says whether those \
without an answer were done or failed, and wants a code typed. None of them is sent again. docs/APPROVALS.md has the rules.

  belljar resume r_0123456789abc
  belljar resume r_0123456789abc --assume failed

Exit code: as that of belljar run.";

pub(crate) const TOKEN: &str = "\
To add, rotate or remove a token, you type a code that only your terminal shows. A running server notices changes within two seconds. Only hashes are kept, in a file of belljar's state folder that is the user's alone.

Scopes: search (search_docs), run (execute_code), run:read-only (execute_code with tools that the owner calls read-only), metrics (GET /metrics), admin (everything).

Examples:
  belljar token add laptop
  belljar token add ci --scope run:read-only
  belljar token rotate laptop

Exit code: 0 done; 2 wrong usage, or the file cannot be used; 3 belljar itself failed.";

pub(crate) const SKILLS: &str = "\
A script with a name is a file skills/NAME.ts or .js beside belljar.toml, or in a folder that '[skills] folders' names: a comment that \
says what it does, and export default async (args: { repo: string; since?: string }) => … Scripts call it as await skills.NAME(args), and \
models find it by search_docs. It runs as part of their run: with its limits, its rules and its record.

To save one, you type a code that only your terminal shows: a model cannot give its own work to later runs.

Examples:
  belljar skills list
  belljar skills check
  belljar run triage.ts --ledger recordings
  belljar skills save triage --run r_0123456789abc
  belljar skills run triage --input '{\"repo\": \"belljar\"}'

Exit code: 0 done; 1 one of them cannot be called, or its run failed; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const KEEP: &str = "\
What a script assigns as keep.NAME lives on for later runs of the same principal in the same workspace, until no run has used it for a \
week. The workspace of a command is the folder in which it is started; that of an MCP client is its first root, if it names any.

Examples:
  belljar run --code 'keep.seen = [1, 2]; keep.$update(\"runs\", (runs) => (runs ?? 0) + 1)'
  belljar keep list
  belljar keep get seen
  belljar keep rm seen
  belljar keep rm --all --workspace /home/ann/shop
  belljar keep list --principal ci --workspace ''

Exit code: 0 done; 1 there is no such value; 2 wrong usage or configuration; 3 the ledger cannot be used.";

pub(crate) const ARTIFACTS: &str = "\
An artifact is a value, a text or bytes that a run left because it was too large for the answer to a model, or that a script saved. It \
belongs to a principal in a workspace, and is removed when nobody has used it for a week. The workspace of a command is the folder in \
which it is started; that of an MCP client is its first root, if it names any. docs/ARTIFACTS.md says more.

A search is for passages with all of the words, or else with all of them as parts of words. No character of it is an operator; after -- it may \
begin with a dash.

Examples:
  belljar artifacts list
  belljar artifacts get a_0123456789abc
  belljar artifacts search connection timeout --limit 3
  belljar artifacts export pages --out pages.json
  belljar artifacts rm a_0123456789abc
  belljar artifacts rm --all --workspace /home/ann/shop

rm and the end of an artifact's days free its room in the ledger's file; 'belljar runs purge --all' sees that nothing of it stays there.

Exit code: 0 done, also if nothing was found; 1 there is no such artifact; 2 wrong usage or configuration; 3 the ledger cannot be used.";

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
  belljar call demo.list_issues --select '.issues[] | {id, title}'

--select takes jq's language. It shows each value that the filter gives; with --json, 'value' is the one value, or a list of all \
where there is not just one, and 'raw' is left out as null. A filter has 10 s and 2 GiB of memory, and may give 16 MiB or 100,000 \
values; a wrong one is refused before the tool is called. stderr says about how many tokens that saved.

Exit code: 0 the tool succeeded; 1 it failed; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const REQUEST: &str = "\
A request has: intent (QUERY, ANALYZE, GENERATE, MODIFY, EXECUTE), action (SERVER.TOOL or execute_code), params, and if wanted effect \
(READ_ONLY, MUTATING, EXTERNAL_EXEC; else the intent gives it), artifact (TEXT, JSON, CODE_PY, CODE_TS, PATCH, BINARY), constraints \
{timeout_ms: 300000, retry_count: 0, isolation: agent or subprocess}, context {caller, project_root}.

The answer is {ok: true, request, result: {artifact_type, data, affected_files?, affected_symbols?}, meta: {duration_ms, mcp_name, \
isolation_used, project_root?}}, or {ok: false, request, error: {type, message, recoverable, suggestion}} with one of the types TIMEOUT, MCP_ERROR, \
VALIDATION, PERMISSION, UNKNOWN.

The effect is a ceiling: a tool that may do more is refused. What a tool does is what the owner of belljar says under 'effects', or what its \
server says where the owner trusts it (trust_hints); else EXTERNAL_EXEC. Only what is READ_ONLY is tried again. \
isolation agent uses the daemon's warm server; subprocess starts one for this request and ends it.

context.project_root, an absolute path, chooses the instance of a server whose 'key' is a path, where params leave that argument out. affected_files and \
affected_symbols stand where 'affected' of the server says for the tool, else where the result has members of these names. The owner's rules \
hold for a request's call as for any other, with earlier calls ('after' with 'within') and counts ('measure').

Examples:
  echo '{\"intent\": \"QUERY\", \"action\": \"demo.list_projects\"}' | belljar request
  belljar request request.json

Exit code: 0 it succeeded; 1 TIMEOUT, MCP_ERROR or PERMISSION; 2 VALIDATION, wrong usage or configuration; 3 UNKNOWN. One JSON \
object is on stdout in every case.";

pub(crate) const SERVERS: &str = "\
Examples:
  belljar servers
  belljar servers --stats
  belljar servers --config .mcp.json --json

Exit code: 0, also if a server could not be started; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const DAEMON: &str = "\
One daemon per configuration keeps its servers, with their state, between commands. The first command that needs a server \
starts it; it ends by itself after 30 minutes without a client, or what [daemon] idle = \"2h\" or \
\"never\" in belljar.toml says. belljar run, call, search, servers and request use it unless --no-daemon is given, or BELLJAR_NO_DAEMON=1 is set.

Examples:
  belljar daemon status
  belljar daemon stop --config team.toml

Exit code: 0 done; 1 status: there is none; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const CHECK: &str = "\
The calls are shown in the order of the source: where each stands, whether it is made always or maybe, whether in a loop, what it may \
change, and what your rules say of it. … stands for what is known only when the script runs. Servers are known by the lists of their \
tools that belljar keeps on disk: `belljar servers` asks a server that has none yet.

Examples:
  belljar check script.ts
  belljar check --code \"await demo.list_issues({ project: 'web' })\"
  belljar check script.ts --json --profile safe

Exit code: 0 no call that is always made is certain to fail; 1 one is, or the script cannot be read; 2 wrong usage or \
configuration; 3 belljar itself failed.";

pub(crate) const POLICY: &str = "\
The rules are those of the configuration's [policy] file, or of a policy.toml beside it; docs/POLICY.md has every key. No server is \
started: rules are held against the lists of tools that belljar keeps on disk, and a server that has none yet is named.

Examples:
  belljar policy check
  belljar policy test --json
  belljar policy explain fs.write_file --input '{\"path\": \"/etc/hosts\"}'
  belljar policy explain stripe.refund --input @refund.json --principal ci --profile safe
  belljar policy accept notion

Exit code: 0 nothing is wrong; 1 a test failed, or something is left to accept; 2 wrong usage or configuration, mistakes in the rules included; 3 belljar itself failed.";

pub(crate) const DOCTOR: &str = "\
Starts each server in this process, lists its tools, and says of each what is wrong and how to fix it, \
and which of its [servers.X.targets] were missed in the last seven days.

Exit code: 0 all is well, warnings included; 1 something is bad; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const BENCH: &str = "\
Nothing else should be running. No server is started: what tools cost of a model's context is counted from the lists that belljar \
keeps on disk, and a server that has none yet is named (belljar servers starts them all, and keeps their lists).

Examples:
  belljar bench
  belljar bench --html bench.html
  belljar bench --quick --json

It takes less than a minute. The figures go to stdout; docs/BENCH.md explains each one, and each field of the JSON.

Exit code: 0 measured; 1 interrupted; 2 wrong usage or configuration, or FILE cannot be written; 3 belljar itself failed.";

pub(crate) const ADD: &str = "\
Writes into --config FILE, else $BELLJAR_CONFIG, else ~/.config/belljar/belljar.toml. The server comes last; all else in the file \
stays as it is, and a copy of it is kept beside it. Texts may refer to variables, as in ${TOKEN}, so that no secret stands in the \
file: quote them for the shell.

Examples:
  belljar add fs -- npx -y @modelcontextprotocol/server-filesystem /data
  belljar add browser --stateful -- npx -y @playwright/mcp
  belljar add docs --url https://example.com/mcp --header 'Authorization: Bearer ${TOKEN}'

Exit code: 0 added; 2 wrong usage or configuration, also where the name is taken; 3 belljar itself failed.";

pub(crate) const REMOVE: &str = "\
The server goes with the comment right above it. All else in the file stays as it is, and a copy of it is kept beside it.

Exit code: 0 removed; 2 wrong usage or configuration, also where there is no such server; 3 belljar itself failed.";

pub(crate) const INSTALL: &str = "\
Shows how its own entry in the client's file would change, without secrets, and asks; without a terminal, nothing is written \
without --yes. All else in the file stays, comments and order too, a copy of the file is kept beside it (FILE.before-belljar-1), and one that cannot be read is not touched.

Examples:
  belljar install claude-code
  belljar install cursor --yes --config ~/team.toml
  belljar install cursor --undo
  belljar install vscode --http                       # for a running 'belljar serve --http', with a new token
  belljar install cursor --http https://mcp.example.com/mcp --token-name ann --scope search --scope run:read-only
  belljar install claude-code --hooks                 # to lead the agent to belljar: docs/HOOKS.md

Exit code: 0 written, or nothing to change; 1 not agreed to; 2 wrong usage, or a file that cannot be changed; 3 belljar itself failed.";

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
Shows what would be taken, with the whole command and without its secrets, and what would be left out and why. Nothing is written \
without --write, and then into --config FILE, else $BELLJAR_CONFIG, else ~/.config/belljar/belljar.toml, which only its owner can \
read. What is in that file stays, and a copy of it is made first.

The files in your home are taken. A file of the current folder (.mcp.json, .cursor/mcp.json, .vscode/mcp.json) was written by whoever \
made that folder, and its commands would run as you: it is shown, and taken only if --from names it, or if you say yes to it at a \
terminal.

Examples:
  belljar import                          what all clients have, and what this folder offers
  belljar import --from cursor --write
  belljar import --from .mcp.json --write --config belljar.toml

Exit code: 0, also if nothing was found; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const LOGIN: &str = "\
Prints the page on which to log in, and waits until the browser comes back from it to this machine. Nothing is opened by itself. \
The token is kept in a file that only its owner can read, and renewed when it ends.

Example:
  belljar login notion

Exit code: 0 logged in; 1 the login failed; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const HOOK: &str = "\
It reads what the client sends to a hook from stdin and prints one JSON object in the form that the client takes. What is said \
stands in [[hook]] of belljar.toml. It is guidance and not a wall: whatever goes wrong, the answer is the client's own \"go on\", \
and the exit code 0. 'belljar install CLIENT --hooks' writes hooks into a client's settings; docs/HOOKS.md says more.

Examples:
  echo '{\"tool_name\": \"Grep\", \"tool_input\": {\"pattern\": \"class Asset\"}}' | belljar hook claude-code PreToolUse
  belljar hook test transcript.jsonl

Exit code: 0, always; of test: 0; 2 wrong usage or configuration; 3 belljar itself failed.";

pub(crate) const HOOK_TEST: &str = "\
It takes all servers to be usable, and remembers nothing from one command to the next.

Examples:
  belljar hook test ~/.claude/projects/PROJECT/SESSION.jsonl
  belljar hook test calls.jsonl --client copilot --json

Exit code: 0; 2 wrong usage or configuration; 3 belljar itself failed.";
