//! The first entry: what was run, by which engine, and within which limits.

use std::{borrow::Cow, collections::BTreeMap, time::Duration};

use belljar_model::{ByteSize, Limits};
use minicbor::{Decoder, Encoder, decode};

use crate::{
    entry::{Encoded, known, length},
    format::kind,
};

/// Servers of a run. Their names and globals are the only part of a recording that is taken apart as a whole.
const MAX_SERVERS: u64 = 10_000;
/// Global variables of one server: its name, and an alias that is an identifier.
const MAX_GLOBALS: u64 = 4;

/// Which engine ran a script. With the same one, a replay uses the same fuel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineId {
    /// The SHA-256 of the interpreter's component.
    pub component: [u8; 32],
    /// The version of wasmtime, which decides what fuel an instruction takes.
    pub wasmtime: String,
}

/// A server, as the script saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Its name, as in a tool's path.
    pub name: String,
    /// The global variables that held its namespace.
    pub globals: Vec<String>,
}

/// How a run began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// What ran it.
    pub engine: EngineId,
    /// JavaScript or TypeScript, as its author wrote it.
    pub source: String,
    /// When it began, in milliseconds since 1970.
    pub begun_ms: u64,
    /// Where its random numbers come from.
    pub seed: [u8; 32],
    /// Its limits.
    pub limits: Limits,
    /// Its servers, in the order in which their globals were defined.
    pub servers: Vec<Server>,
}

impl Start {
    pub(crate) fn encode(&self, out: &mut Encoder<Vec<u8>>) -> Encoded {
        out.array(8)?.u8(kind::START)?.bytes(&self.engine.component)?.str(&self.engine.wasmtime)?.str(&self.source)?;
        out.u64(self.begun_ms)?.bytes(&self.seed)?.map(LIMITS.len() as u64)?;
        for (name, get, _) in LIMITS {
            out.str(name)?.u64(get(&self.limits))?;
        }
        out.array(self.servers.len() as u64)?;
        for server in &self.servers {
            out.array(2)?.str(&server.name)?.array(server.globals.len() as u64)?;
            for global in &server.globals {
                out.str(global)?;
            }
        }
        Ok(())
    }

    /// Reads what follows the kind.
    pub(crate) fn decode(input: &mut Decoder<'_>) -> Result<Self, decode::Error> {
        let component = digest(input)?;
        let wasmtime = input.str()?.to_owned();
        let source = input.str()?.to_owned();
        let begun_ms = input.u64()?;
        let seed = digest(input)?;
        let limits = limits(input)?;
        let mut servers = Vec::new();
        for _ in 0..at_most(length(input)?, MAX_SERVERS, "servers")? {
            known(input, 2)?;
            let name = input.str()?.to_owned();
            let mut globals = Vec::new();
            for _ in 0..at_most(length(input)?, MAX_GLOBALS, "globals of a server")? {
                globals.push(input.str()?.to_owned());
            }
            servers.push(Server { name, globals });
        }
        Ok(Self { engine: EngineId { component, wasmtime }, source, begun_ms, seed, limits, servers })
    }
}

/// A limit: its name, and how it is read and set as a number.
type LimitField = (&'static str, fn(&Limits) -> u64, fn(&mut Limits, u64));

/// All limits, in the order in which they are written: durations in nanoseconds, sizes in bytes, counts as they are.
const LIMITS: [LimitField; 15] = [
    ("timeout", |limits| nanoseconds(limits.timeout), |limits, value| limits.timeout = Duration::from_nanos(value)),
    ("compute", |limits| nanoseconds(limits.compute), |limits, value| limits.compute = Duration::from_nanos(value)),
    ("wait", |limits| nanoseconds(limits.wait), |limits, value| limits.wait = Duration::from_nanos(value)),
    ("call", |limits| nanoseconds(limits.call), |limits, value| limits.call = Duration::from_nanos(value)),
    ("fuel", |limits| limits.fuel, |limits, value| limits.fuel = value),
    ("memory", |limits| limits.memory.as_u64(), |limits, value| limits.memory = ByteSize::b(value)),
    ("max_calls", |limits| limits.max_calls, |limits, value| limits.max_calls = value),
    ("max_concurrent_calls", |limits| limits.max_concurrent_calls, |limits, value| limits.max_concurrent_calls = value),
    ("max_source", |limits| limits.max_source.as_u64(), |limits, value| limits.max_source = ByteSize::b(value)),
    (
        "max_arguments",
        |limits| limits.max_arguments.as_u64(),
        |limits, value| limits.max_arguments = ByteSize::b(value),
    ),
    ("max_result", |limits| limits.max_result.as_u64(), |limits, value| limits.max_result = ByteSize::b(value)),
    ("max_output", |limits| limits.max_output.as_u64(), |limits, value| limits.max_output = ByteSize::b(value)),
    ("max_logs", |limits| limits.max_logs.as_u64(), |limits, value| limits.max_logs = ByteSize::b(value)),
    ("max_held", |limits| limits.max_held.as_u64(), |limits, value| limits.max_held = ByteSize::b(value)),
    ("max_log_lines", |limits| limits.max_log_lines, |limits, value| limits.max_log_lines = value),
];

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn limits(input: &mut Decoder<'_>) -> Result<Limits, decode::Error> {
    let other = || decode::Error::message("the limits are not those of this version");
    let mut limits = Limits::default();
    if input.map()? != Some(LIMITS.len() as u64) {
        return Err(other());
    }
    for (name, _, set) in LIMITS {
        if input.str()? != name {
            return Err(other());
        }
        set(&mut limits, input.u64()?);
    }
    Ok(limits)
}

/// The limits by their names, in the order in which they are written.
pub(crate) fn limits_by_name(limits: &Limits) -> impl Iterator<Item = (&'static str, u64)> {
    LIMITS.into_iter().map(|(name, get, _)| (name, get(limits)))
}

/// The limits of these names, if there are all of them and no other.
pub(crate) fn limits_of(values: &BTreeMap<Cow<'_, str>, u64>) -> Option<Limits> {
    let mut limits = Limits::default();
    for (name, _, set) in LIMITS {
        set(&mut limits, *values.get(name)?);
    }
    (values.len() == LIMITS.len()).then_some(limits)
}

pub(crate) fn digest(input: &mut Decoder<'_>) -> Result<[u8; 32], decode::Error> {
    input.bytes()?.try_into().map_err(|_| decode::Error::message("a digest does not have 32 bytes"))
}

fn at_most(found: u64, max: u64, what: &str) -> Result<u64, decode::Error> {
    if found > max { Err(decode::Error::message(format!("{found} {what}, of at most {max}"))) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use belljar_model::LimitsPatch;

    use super::*;

    #[test]
    fn every_limit_is_written_and_read() {
        assert_eq!(LIMITS.map(|(name, ..)| name), LimitsPatch::NAMES);
        let mut changed = Limits::default();
        for (at, (name, get, set)) in LIMITS.into_iter().enumerate() {
            set(&mut changed, at as u64);
            assert_eq!(get(&changed), at as u64, "{name}");
        }
        // Each field has its own number: none was set in place of another.
        for (at, (name, get, _)) in LIMITS.into_iter().enumerate() {
            assert_eq!(get(&changed), at as u64, "{name}");
        }
    }
}
