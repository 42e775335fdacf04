//! Every bound on what a child may send, hold or delay, each with its reason.

use std::time::Duration;

/// The size of a message besides the result that it carries.
pub(crate) const ENVELOPE_BYTES: usize = 4 * 1024;
/// One page of a tool list. It is also the most that any child may be allowed to send in one
/// message.
pub(crate) const LINE_BYTES: usize = 256 * 1024 * 1024;
/// A request or notification of a child. It is parsed into types that cost several times its text.
pub(crate) const CHILD_REQUEST_BYTES: usize = 1024 * 1024;
/// Requests of a child that wait for our answer. A child that asks without reading would otherwise
/// fill our memory.
pub(crate) const CHILD_REQUESTS: usize = 64;
/// Messages that wait for a child to read its stdin.
pub(crate) const OUTGOING_MESSAGES: usize = 64;
/// How long a child may leave a message unread before it counts as dead. Longer than any sensible
/// call.
pub(crate) const WRITE_STALL: Duration = Duration::from_secs(120);
/// All paths in the arguments of one call: about a hundred. No other arguments are parsed into a
/// tree.
pub(crate) const PATHS_BYTES: usize = 64 * 1024;
/// Calls of one server whose paths are checked at the same time; the others wait as text.
pub(crate) const PATHS_JUDGED: usize = 16;
/// Calls that wait for one child. As many as a run makes by default, so that one `Promise.all`
/// fits.
pub(crate) const CALLS_QUEUED: usize = 1024;
/// How long a suspect child may take to list its tools again, or to say anything else.
pub(crate) const HEALTH_TIMEOUT: Duration = Duration::from_secs(10);
/// A call that the owner configured for each start.
pub(crate) const ACTIVATION_BYTES: usize = 1024 * 1024;
/// Cancellations that wait to be sent. Further ones are not sent, but the call has ended anyway.
pub(crate) const CANCELLATIONS: usize = 1024;

/// Pages of one tool list.
pub(crate) const LIST_PAGES: usize = 1_000;
/// Tools of one child. The largest servers in use have a few hundred.
pub(crate) const LIST_TOOLS: usize = 10_000;
/// All pages of one tool list together.
pub(crate) const LIST_BYTES: usize = 64 * 1024 * 1024;
/// How long one refresh of a tool list may take.
pub(crate) const RELIST_TIMEOUT: Duration = Duration::from_secs(30);
/// How long to wait for further `list_changed` before the list is requested.
pub(crate) const RELIST_QUIET: Duration = Duration::from_millis(250);
/// How many times in a row a list is requested that soon: tools are switched on one after the
/// other. After that the wait doubles each time.
pub(crate) const RELIST_PROMPT: u32 = 8;
/// The longest such wait. A list can be large, and is indexed each time.
pub(crate) const RELIST_REST: Duration = Duration::from_secs(30);
/// After this long without a change, a child is asked promptly again.
pub(crate) const RELIST_CALM: Duration = Duration::from_secs(60);

/// Lines of a child's stderr that are logged at once, such as the trace of an error. Others are
/// counted.
pub(crate) const LOGGED_AT_ONCE: u32 = 200;
/// Lines that are logged each second after these: enough to follow what a child does, without
/// filling the log.
pub(crate) const LOGGED_PER_SECOND: u32 = 10;
/// One line of a child's stderr; the rest of a longer one is dropped.
pub(crate) const STDERR_LINE_BYTES: usize = 2 * 1024;
/// The last lines of stderr that are kept for error messages.
pub(crate) const STDERR_LINES: usize = 20;
/// The same in bytes.
pub(crate) const STDERR_BYTES: usize = 8 * 1024;
/// How long to wait for the last words of a dead child. A surviving helper may hold the pipe open.
pub(crate) const STDERR_WAIT: Duration = Duration::from_millis(800);
/// A child's error message, in characters.
pub(crate) const MESSAGE_CHARS: usize = 2_000;
/// A child's progress message, in characters: clients show it on one line.
pub(crate) const PROGRESS_CHARS: usize = 200;

/// From the end of a child's output to its exit, or from its exit to the end of its output.
pub(crate) const EXIT_WAIT: Duration = Duration::from_secs(2);
/// From the end of the connection to the report of the reason; the sum of the waits before it, with
/// room to spare.
pub(crate) const DEATH_WAIT: Duration = Duration::from_secs(6);
/// How long a child may take to exit after its stdin was closed.
pub(crate) const STDIN_GRACE: Duration = Duration::from_millis(1_000);
/// How long its group may take after SIGTERM.
pub(crate) const TERM_GRACE: Duration = Duration::from_millis(1_500);
/// How long the kernel may take after SIGKILL.
pub(crate) const KILL_WAIT: Duration = Duration::from_millis(500);
/// How long helpers that outlive their leader may take after SIGTERM.
pub(crate) const HELPER_GRACE: Duration = Duration::from_millis(300);
/// All of the above for one child, with room to spare. Children are stopped in parallel.
pub(crate) const STOP_LIMIT: Duration = Duration::from_millis(4_500);

/// Questions of all children to the client of one run. More than a person sits through.
pub(crate) const QUESTIONS_PER_RUN: usize = 20;
/// The text of one question, and all texts of its form together. Some pages.
pub(crate) const QUESTION_BYTES: usize = 8 * 1024;
/// The fields of a form.
pub(crate) const QUESTION_FIELDS: usize = 50;
/// The URL of a page that a user is asked to open.
pub(crate) const QUESTION_URL_BYTES: usize = 2 * 1024;
/// The length of a child's id for its question.
pub(crate) const QUESTION_ID_BYTES: usize = 256;
/// Messages of one question to the client's model. Their size is that of a request:
/// [`CHILD_REQUEST_BYTES`].
pub(crate) const QUESTION_MESSAGES: usize = 100;
/// The longest answer of the client's model that a child may request. Somebody pays for it.
pub(crate) const QUESTION_TOKENS: u32 = 8 * 1024;

/// Principals of a server whose lost state is remembered.
pub(crate) const GIVEN_UP: usize = 256;

/// State changes kept for a slow subscriber.
pub(crate) const EVENTS: usize = 256;

/// Messages of a remote server that wait to be read. Each may be as large as an answer.
pub(crate) const INCOMING_FRAMES: usize = 4;
/// An answer that refuses a request: as much as fits into a message, with its markup.
pub(crate) const ERROR_BODY_BYTES: usize = 64 * 1024;
/// How long a remote server may take to accept a message without an answer.
pub(crate) const CONTROL_REQUEST: Duration = Duration::from_secs(10);
/// How long a remote server may take to end a session. Less than [`STDIN_GRACE`], so that we give
/// up first.
pub(crate) const GOODBYE: Duration = Duration::from_millis(800);
/// How long the first call waits for the server's own stream. Most servers answer at once, some
/// with the first event.
pub(crate) const STREAM_OPENING: Duration = Duration::from_millis(250);
/// The pause before a broken stream is resumed, if the server names none.
pub(crate) const STREAM_RETRY: Duration = Duration::from_secs(1);
