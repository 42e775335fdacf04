//! The limits: a name, what it is, its default, its unit, a line for help texts; above each, its
//! reason.

use std::{fmt, time::Duration};

use bytesize::ByteSize;
use serde::{Deserialize, Serialize, Serializer};

use super::{LimitSpec, declare::limits, optional, value::LimitValue};

limits! {
    run {
        /// Wall time from the start of execution, waits included. Two minutes, because clients wait
        /// about that long.
        timeout Timeout: Duration = Duration::from_secs(120), "ms", "Wall time, waits included";
        /// Compute time inside the guest. Ten seconds: no script in `tests/scripts` takes more than
        /// 26 ms, and no program in `tests/differential` more than 1.7 s.
        compute Compute: Duration = Duration::from_secs(10), "ms", "Compute time of the script";
        /// Total time spent waiting for tools and timers. As long as `timeout`, so it matters only
        /// if the owner lowers it, for runs that may compute for a long time but not wait for a
        /// long time.
        wait Wait: Duration = Duration::from_secs(120), "ms", "Total time spent waiting for tools and timers",
            follows Timeout;
        /// Time of one tool call. Thirty seconds, as is usual in MCP clients.
        call Call: Duration = Duration::from_secs(30), "ms", "Time of one tool call";
        /// Work, in wasmtime's fuel: the same script with the same answers uses the same amount.
        /// The default takes longer than `compute` on today's machines, so it matters only if the
        /// owner lowers it.
        fuel Fuel: u64 = 200_000_000_000, "fuel", "Work, in units that are the same on every machine";
        /// The guest's linear memory and tables. 256 MiB: a tool result of 5 MB becomes about 100
        /// MB of objects.
        memory Memory: ByteSize = ByteSize::mib(256), "bytes", "Memory of the script";
        /// Tool calls in all. A thousand: enough to loop over a page of results, but not to crawl a
        /// site.
        max_calls MaxCalls: u64 = 1_000, "calls", "Tool calls in all";
        /// Tool calls under way at the same time. As many as `max_calls`, because scripts are meant
        /// to use `Promise.all` over a page of results. Lower it for servers that cannot take so
        /// many.
        max_concurrent_calls MaxConcurrentCalls: u64 = 1_000, "calls", "Tool calls under way at the same time",
            follows MaxCalls;
        /// The source text. 1 MiB; models write a few KB.
        max_source MaxSource: ByteSize = ByteSize::mib(1), "bytes", "Source text of the script";
        /// The arguments of one call, as JSON. 1 MiB.
        max_arguments MaxArguments: ByteSize = ByteSize::mib(1), "bytes", "The arguments of one call, as JSON";
        /// The result of one call, as JSON. 5 MB, as much as a client accepts from a server.
        max_result MaxResult: ByteSize = ByteSize::mb(5), "bytes", "The result of one call, as JSON";
        /// The value of the run, as JSON. 256 KiB: about 60,000 tokens, more than a model should
        /// read. The base64 of images and files is not counted: it may have as many bytes as
        /// `max_result`.
        max_output MaxOutput: ByteSize = ByteSize::kib(256), "bytes", "The value of the run, as JSON";
        /// All log texts together. 64 KiB; anything beyond is cut, and a line says so.
        max_logs MaxLogs: ByteSize = ByteSize::kib(64), "bytes", "All logs together";
        /// What the host holds for the run outside its memory: arguments of calls under way,
        /// waiting answers, logs, records of calls. 64 MiB: sixty of the largest arguments, or a
        /// dozen of the largest answers.
        max_held MaxHeld: ByteSize = ByteSize::mib(64), "bytes",
            "Data held for the script outside its memory: arguments of calls under way, answers, logs";
        /// The lines of all log texts together. 10,000, because even an empty line costs memory.
        /// Anything beyond is cut, and a line says so.
        max_log_lines MaxLogLines: u64 = 10_000, "lines", "Lines of all logs together";
    }
    others {
        /// The guest's stack.
        Stack "stack", "bytes";
        /// Calls and timers of one run that are under way.
        UnderWay "under_way", "calls and timers";
        /// `max_queued` of the sandbox: runs that wait for a slot.
        MaxQueued "max_queued", "runs";
        /// `queue_timeout` of the sandbox: how long one waits for a slot.
        QueueTimeout "queue_timeout", "ms";
        /// Requests that a client on stdio has under way.
        RequestsInFlight "requests_in_flight", "requests";
        /// The bytes of these requests.
        RequestBytesInFlight "request_bytes_in_flight", "bytes";
    }
}

impl fmt::Display for LimitName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl Serialize for LimitName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
