//! A child server that misbehaves as its first argument says.

#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod bare;
mod echo;
mod flawed;
#[cfg(unix)]
mod hijacked;
mod host;
mod life;
mod modern;
mod probe;
mod protocol;
mod record;
#[cfg(target_os = "linux")]
mod spy;
mod stubborn;
#[cfg(unix)]
mod worker;

use std::{
    io::{self, Read, Write},
    process::ExitCode,
    time::Duration,
};

const USAGE: &str = "\
usage: belljar-testkit-child MODE

exit            exits at once with a message on stderr
mute            reads, and never answers
refuse          refuses every request, the handshake included
mute-list       greets, and never lists its tools
slow-list MS    healthy, and takes this long to list its tools
hang-call       lists its tools, and never answers a call
crash-on-call   lists its tools, and exits when one is called
echo            healthy, with the tools echo, fail and slow
lengths         healthy, with a Content-Length header before each message
tally F         healthy, with a tool that leaves the text of each call as a line in F
stateful        healthy, with tools that count, crash, repeat, and show how they were started
crash-once F    crashes at its first call ever, of which it leaves the mark F, and is healthy from then on
silent-once F   answers all calls but the first ever, and none of its tool hang; leaves a line with the arguments in F for each
liar F          fails at each call of a tool that it says changes nothing, and leaves a line in F for each
deaf F          healthy until it is told to say nothing any more; the mark F tells that it was
twice           answers each call twice, with noise in the ids
late            answers each call after the deadline, and then the next one
exit-unknown    healthy, and exits on a method that it does not know
ignore-unknown  healthy, and ignores methods that it does not know
record F        healthy, with the tools read and write; leaves a file in the folder F for each call that it receives
modern          healthy, of the revision without a handshake, and knows no other
flood           healthy, and floods its client with notifications before each answer
spy             healthy, with tools that look at the processes above it, and show what it was started with
probe           healthy, with tools that show what its client does
noise           healthy, with noise on stdout before and between its answers
stderr-flood    healthy, with 300 KB on stderr before each answer
bad-tools       one good tool among bad ones
loop-cursor     a tool list whose pages never end
listed F        healthy, with the tools that the file F lists when it starts
many N          a tool list of N tools, in pages
leave-helper F  healthy; exits cleanly and leaves a helper behind, whose pid is written to the file F
runaway F       as stubborn, and its helper has made a session of its own
daemon F        that helper
host F          belljar's part: keeps a runaway child until it is killed itself
confine W C     walls itself in as W says, in JSON, and becomes the command C
without F C     becomes the command C, for which the kernel has no F (landlock, seccomp, seccomp-filter, locks)
supervise       belljar's other part: stands between it and a child
worker          a worker process, which does what its requests say
hijacked F I P  the process of a component that somebody took over: it says that it imports I, asks about P and all else, and
                leaves what it heard in F
keep-worker     keeps a worker process until it is killed itself
stubborn F      healthy; ignores the end of its input and SIGTERM, as does its helper; both pids are written to the file F
";

fn main() -> ExitCode {
    #[cfg(unix)]
    if std::env::args_os().nth(1).is_some_and(|mode| mode == "supervise") {
        return belljar_upstream::supervise(std::env::args_os().skip(2));
    }
    if std::env::args_os().nth(1).is_some_and(|mode| mode == "confine") {
        return belljar_upstream::confine(std::env::args_os().skip(2));
    }
    #[cfg(target_os = "linux")]
    if std::env::args_os().nth(1).is_some_and(|mode| mode == "without") {
        let missing = std::env::args().nth(2).unwrap_or_default();
        let Err(error) = bare::without(&missing, std::env::args_os().skip(3));
        let _ = writeln!(io::stderr(), "without {missing}: {error}");
        return ExitCode::from(2);
    }
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let ended = match arguments.as_slice() {
        ["exit"] => {
            let _ = writeln!(io::stderr(), "cannot start: the variable EXAMPLE_TOKEN is not set");
            return ExitCode::from(3);
        }
        ["mute"] => io::stdin().read_to_end(&mut Vec::new()).map(drop),
        ["refuse"] => flawed::refuse(),
        ["mute-list"] => flawed::mute_list(),
        ["slow-list", time] => match time.parse() {
            Ok(time) => flawed::slow_list(Duration::from_millis(time)),
            Err(error) => Err(io::Error::other(error)),
        },
        ["hang-call"] => flawed::hang_call(),
        ["crash-on-call"] => flawed::crash_on_call(),
        ["echo"] => echo::echo(),
        ["noise"] => echo::noise(),
        ["stderr-flood"] => echo::stderr_flood(),
        ["probe"] => probe::probe(),
        #[cfg(target_os = "linux")]
        ["spy"] => spy::spy(),
        ["lengths"] => life::lengths(),
        ["stateful", start @ ..] => life::stateful(start),
        ["tally", file] => life::tally(file),
        ["crash-once", file] => life::crash_once(file),
        ["silent-once", file] => life::silent_once(file),
        ["liar", file] => flawed::liar(file),
        ["deaf", file] => life::deaf(file),
        ["twice"] => flawed::twice(),
        ["late"] => flawed::late(),
        ["exit-unknown"] => flawed::unknown(true),
        ["ignore-unknown"] => flawed::unknown(false),
        ["record", folder] => record::record(folder),
        ["modern"] => modern::modern(),
        ["flood"] => flawed::flood(),
        ["bad-tools"] => flawed::bad_tools(),
        ["loop-cursor"] => flawed::loop_cursor(),
        ["listed", file] => flawed::listed(file),
        ["many", count] => match count.parse() {
            Ok(count) => flawed::many(count),
            Err(error) => Err(io::Error::other(error)),
        },
        ["leave-helper", file] => stubborn::leave_helper(file),
        ["stubborn", file] => stubborn::stubborn(file),
        ["runaway", file] => stubborn::runaway(file),
        ["daemon", file] => stubborn::daemon(file),
        ["host", file] => host::host(file),
        #[cfg(unix)]
        ["worker", parent] => worker::worker(parent),
        #[cfg(unix)]
        ["keep-worker"] => worker::keep(),
        // The last argument is the process that started this one.
        #[cfg(unix)]
        ["hijacked", file, imports, path, _] => hijacked::hijacked(file, imports, path),
        _ => {
            let _ = write!(io::stderr(), "{USAGE}");
            return ExitCode::from(2);
        }
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}
