//! A child server that misbehaves as its first argument says.

#![forbid(unsafe_code)]

mod echo;
mod flawed;
mod probe;
mod protocol;
mod stubborn;

use std::{
    io::{self, Read, Write},
    process::ExitCode,
};

const USAGE: &str = "\
usage: belljar-testkit-child MODE

exit            exits at once with a message on stderr
mute            reads, and never answers
refuse          refuses every request, the handshake included
mute-list       greets, and never lists its tools
hang-call       lists its tools, and never answers a call
crash-on-call   lists its tools, and exits when one is called
echo            healthy, with the tools echo, fail and slow
probe           healthy, with tools that show what its client does
noise           healthy, with noise on stdout before and between its answers
stderr-flood    healthy, with 300 KB on stderr before each answer
bad-tools       one good tool among bad ones
loop-cursor     a tool list whose pages never end
many N          a tool list of N tools, in pages
leave-helper F  healthy; exits cleanly and leaves a helper behind, whose pid is written to the file F
stubborn F      healthy; ignores the end of its input and SIGTERM, as does its helper; both pids are written to the file F
";

fn main() -> ExitCode {
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
        ["hang-call"] => flawed::hang_call(),
        ["crash-on-call"] => flawed::crash_on_call(),
        ["echo"] => echo::echo(),
        ["noise"] => echo::noise(),
        ["stderr-flood"] => echo::stderr_flood(),
        ["probe"] => probe::probe(),
        ["bad-tools"] => flawed::bad_tools(),
        ["loop-cursor"] => flawed::loop_cursor(),
        ["many", count] => match count.parse() {
            Ok(count) => flawed::many(count),
            Err(error) => Err(io::Error::other(error)),
        },
        ["leave-helper", file] => stubborn::leave_helper(file),
        ["stubborn", file] => stubborn::stubborn(file),
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
