//! The first entry: what was run, by which engine, and within which limits.

use std::{borrow::Cow, collections::BTreeMap};

use belljar_model::{LimitSpec, Limits};
use minicbor::{Decoder, Encoder, decode, encode};

use crate::{
    entry::{Encoded, digest, known, length},
    format::kind,
};

/// Servers of a run. Their names and globals are the only part of a recording that is parsed as a
/// whole.
const MAX_SERVERS: u64 = 10_000;
/// Global variables of one server: its name, and an alias that is an identifier.
const MAX_GLOBALS: u64 = 4;

/// The engine that ran a script. With the same one, a replay uses the same fuel.
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
    /// The engine.
    pub engine: EngineId,
    /// JavaScript or TypeScript, as its author wrote it.
    pub source: String,
    /// When it began, in milliseconds since 1970.
    pub begun_ms: u64,
    /// The seed of its random numbers.
    pub seed: [u8; 32],
    /// Its limits.
    pub limits: Limits,
    /// Its servers, in the order in which their globals were defined.
    pub servers: Vec<Server>,
}

/// The written parts of a start that an engine's runs with the same limits share. They are most of
/// a short recording, and need not be written for each.
#[derive(Debug, Clone)]
pub struct Head {
    /// The bytes up to the source, and from the limits to the servers. `None` if they could not be
    /// written.
    parts: Option<[Vec<u8>; 2]>,
}

/// The other parts, which belong to one run only.
#[derive(Debug, Clone, Copy)]
pub struct Begin<'a, S> {
    /// As in [`Start`].
    pub source: &'a str,
    /// As in [`Start`].
    pub begun_ms: u64,
    /// As in [`Start`].
    pub seed: [u8; 32],
    /// The name of each server, and its globals.
    pub servers: S,
}

impl Head {
    /// The parts of an engine and of limits.
    pub fn new(engine: &EngineId, limits: &Limits) -> Self {
        let written = |part: &dyn Fn(&mut Encoder<Vec<u8>>) -> Encoded| {
            let mut out = Encoder::new(Vec::new());
            part(&mut out).ok().map(|()| out.into_writer())
        };
        let engine =
            written(&|out| out.array(8)?.u8(kind::START)?.bytes(&engine.component)?.str(&engine.wasmtime)?.ok());
        let limits = written(&|out| {
            out.map(LimitSpec::ALL.len() as u64)?;
            limits_by_name(limits).try_for_each(|(name, value)| out.str(name)?.u64(value)?.ok())
        });
        Self { parts: engine.zip(limits).map(|(engine, limits)| [engine, limits]) }
    }

    /// How many bytes they have.
    pub(crate) fn bytes(&self) -> usize {
        self.parts.iter().flatten().map(Vec::len).sum()
    }

    /// Writes a start.
    pub(crate) fn encode<'a>(
        &self,
        Begin { source, begun_ms, seed, servers }: Begin<'a, impl ExactSizeIterator<Item = (&'a str, &'a [String])>>,
        out: &mut Encoder<Vec<u8>>,
    ) -> Encoded {
        let Some([engine, limits]) = &self.parts else { return Err(encode::Error::message("there is no head")) };
        out.writer_mut().extend_from_slice(engine);
        out.str(source)?.u64(begun_ms)?.bytes(&seed)?;
        out.writer_mut().extend_from_slice(limits);
        out.array(servers.len() as u64)?;
        for (name, globals) in servers {
            out.array(2)?.str(name)?.array(globals.len() as u64)?;
            for global in globals {
                out.str(global)?;
            }
        }
        Ok(())
    }
}

impl Start {
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

/// The limits by name, in the order in which they are written: durations in nanoseconds, sizes in
/// bytes, counts unchanged.
pub(crate) fn limits_by_name(limits: &Limits) -> impl Iterator<Item = (&'static str, u64)> {
    LimitSpec::ALL.iter().map(|spec| (spec.name.as_str(), (spec.get)(limits)))
}

/// The limits with these names, if all of them are there and no others.
pub(crate) fn limits_of(values: &BTreeMap<Cow<'_, str>, u64>) -> Option<Limits> {
    let mut limits = Limits::default();
    for spec in LimitSpec::ALL {
        (spec.set)(&mut limits, *values.get(spec.name.as_str())?);
    }
    (values.len() == LimitSpec::ALL.len()).then_some(limits)
}

fn at_most(found: u64, max: u64, what: &str) -> Result<u64, decode::Error> {
    if found > max { Err(decode::Error::message(format!("{found} {what}, of at most {max}"))) } else { Ok(found) }
}
