//! The first entry: what was run, by which engine, and within which limits.

use std::{borrow::Cow, collections::BTreeMap};

use belljar_model::{LimitSpec, Limits};
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
        out.u64(self.begun_ms)?.bytes(&self.seed)?.map(LimitSpec::ALL.len() as u64)?;
        for (name, value) in limits_by_name(&self.limits) {
            out.str(name)?.u64(value)?;
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

fn limits(input: &mut Decoder<'_>) -> Result<Limits, decode::Error> {
    let other = || decode::Error::message("the limits are not those of this version");
    let mut limits = Limits::default();
    if input.map()? != Some(LimitSpec::ALL.len() as u64) {
        return Err(other());
    }
    for spec in LimitSpec::ALL {
        if input.str()? != spec.name.as_str() {
            return Err(other());
        }
        (spec.set)(&mut limits, input.u64()?);
    }
    Ok(limits)
}

/// The limits by their names, in the order in which they are written: durations in nanoseconds, sizes in
/// bytes, counts as they are.
pub(crate) fn limits_by_name(limits: &Limits) -> impl Iterator<Item = (&'static str, u64)> {
    LimitSpec::ALL.iter().map(|spec| (spec.name.as_str(), (spec.get)(limits)))
}

/// The limits of these names, if there are all of them and no other.
pub(crate) fn limits_of(values: &BTreeMap<Cow<'_, str>, u64>) -> Option<Limits> {
    let mut limits = Limits::default();
    for spec in LimitSpec::ALL {
        (spec.set)(&mut limits, *values.get(spec.name.as_str())?);
    }
    (values.len() == LimitSpec::ALL.len()).then_some(limits)
}

pub(crate) fn digest(input: &mut Decoder<'_>) -> Result<[u8; 32], decode::Error> {
    input.bytes()?.try_into().map_err(|_| decode::Error::message("a digest does not have 32 bytes"))
}

fn at_most(found: u64, max: u64, what: &str) -> Result<u64, decode::Error> {
    if found > max { Err(decode::Error::message(format!("{found} {what}, of at most {max}"))) } else { Ok(found) }
}
