//! The first entry: what was run, by which engine, and within which limits.

use std::{borrow::Cow, collections::BTreeMap};

use belljar_model::{LimitSpec, Limits};
use minicbor::{Decoder, Encoder, decode, encode};

use crate::{
    entry::{Encoded, digest, known, length, optional_text, text_or_null},
    format::kind,
};

/// Items of a start, without its surroundings.
const ITEMS: u64 = 8;
/// Bytes of a function in addition to its texts.
const FUNCTION_BYTES: usize = 32;
/// The most servers of a run. They are bounded since the start is the only part of a recording that
/// is parsed as a whole.
const MAX_SERVERS: u64 = 10_000;
/// The most global variables of one server, which usually has its name, and an alias that is an
/// identifier.
const MAX_GLOBALS: u64 = 4;
/// The most global functions of a run.
const MAX_FUNCTIONS: u64 = 10_000;
/// The bits of a [`CallForm`].
const POSITIONAL: u8 = 1;
const PLAIN: u8 = 2;
/// The bits of the globals for what lives between runs.
const ARTIFACTS: u8 = 1;
const KEEP: u8 = 2;
/// The bit of a component.
const COMPONENT: u8 = 4;

/// The engine that ran a script. With the same one, a replay uses the same fuel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineId {
    /// The SHA-256 of the interpreter's component.
    pub component: [u8; 32],
    /// The version of wasmtime, which determines how much fuel an instruction takes.
    pub wasmtime: String,
}

/// A server, as the script saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Its name, as in a tool's path.
    pub name: String,
    /// The global variables that held its namespace.
    pub globals: Vec<String>,
    /// How its tools are called.
    pub form: CallForm,
}

/// How the tools of a server are called. The default is that of MCP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallForm {
    /// Whether arguments are an array of values, in place of one object.
    pub positional: bool,
    /// Whether an answer is the value itself, in place of a `CallToolResult`.
    pub plain: bool,
}

/// What a host put around a script. The default is nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// JavaScript that ran before the script.
    pub prelude: Option<String>,
    /// The global functions, in their order.
    pub functions: Vec<GlobalFunction>,
    /// Whether belljar's own globals were left out.
    pub no_builtins: bool,
    /// Whether the value is in extended JSON.
    pub extended_value: bool,
    /// Whether there was `artifacts`.
    pub artifacts: bool,
    /// Whether there was `keep`.
    pub keep: bool,
    /// Whether a component that others built ran in place of a script. The source is then its
    /// order, as JSON: the tools of its servers, and its input. `EngineId::component` is then the
    /// digest of its file.
    pub component: bool,
}

/// A global function, as the script saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobalFunction {
    /// Its name.
    pub name: String,
    /// The position of the server whose tool it is.
    pub server: u32,
    /// The name of the tool in the server's namespace.
    pub property: String,
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
    /// What its host put around it.
    pub surroundings: Surroundings,
}

impl Start {
    /// The script, or `None` if a component that others built ran.
    pub fn script(&self) -> Option<&str> {
        (!self.surroundings.component).then_some(&*self.source)
    }
}

/// The encoded parts of a start that are the same for all runs of an engine with the same limits.
/// They are most of a short recording, and need not be encoded again for each.
#[derive(Debug, Clone)]
pub struct Head {
    /// The bytes up to the source, and from the limits to the servers. `None` if they could not be
    /// written.
    parts: Option<[Vec<u8>; 2]>,
}

/// The other parts of a start, which belong to one run only.
#[derive(Debug, Clone, Copy)]
pub struct Begin<'a, S> {
    /// As in [`Start`].
    pub source: &'a str,
    /// As in [`Start`].
    pub begun_ms: u64,
    /// As in [`Start`].
    pub seed: [u8; 32],
    /// The name of each server, its globals, and how its tools are called.
    pub servers: S,
    /// As in [`Start`].
    pub surroundings: &'a Surroundings,
}

impl Head {
    /// The parts for this engine and these limits.
    pub fn new(engine: &EngineId, limits: &Limits) -> Self {
        let written = |part: &dyn Fn(&mut Encoder<Vec<u8>>) -> Encoded| {
            let mut out = Encoder::new(Vec::new());
            part(&mut out).ok().map(|()| out.into_writer())
        };
        let engine = written(&|out| out.u8(kind::START)?.bytes(&engine.component)?.str(&engine.wasmtime)?.ok());
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
        begin: Begin<'a, impl ExactSizeIterator<Item = (&'a str, &'a [String], CallForm)>>,
        out: &mut Encoder<Vec<u8>>,
    ) -> Encoded {
        let Begin { source, begun_ms, seed, servers, surroundings } = begin;
        let Some([engine, limits]) = &self.parts else { return Err(encode::Error::message("there is no head")) };
        let is_surrounded = *surroundings != Surroundings::default();
        out.array(ITEMS + u64::from(is_surrounded))?;
        out.writer_mut().extend_from_slice(engine);
        out.str(source)?.u64(begun_ms)?.bytes(&seed)?;
        out.writer_mut().extend_from_slice(limits);
        out.array(servers.len() as u64)?;
        for (name, globals, form) in servers {
            let is_other = form != CallForm::default();
            out.array(2 + u64::from(is_other))?.str(name)?.array(globals.len() as u64)?;
            for global in globals {
                out.str(global)?;
            }
            if is_other {
                out.u8(form.bits())?;
            }
        }
        if is_surrounded { surroundings.encode(out) } else { Ok(()) }
    }
}

impl CallForm {
    fn bits(self) -> u8 {
        u8::from(self.positional) * POSITIONAL + u8::from(self.plain) * PLAIN
    }

    fn of(bits: u8) -> Result<Self, decode::Error> {
        let form = Self { positional: bits & POSITIONAL != 0, plain: bits & PLAIN != 0 };
        // The default form is not written.
        if form.bits() != bits || bits == 0 {
            return Err(decode::Error::message(format!("an unknown way {bits} of calling a server's tools")));
        }
        Ok(form)
    }
}

impl Surroundings {
    /// The bytes of its texts.
    pub(crate) fn bytes(&self) -> usize {
        let functions = self.functions.iter().map(|each| each.name.len() + each.property.len() + FUNCTION_BYTES);
        self.prelude.as_ref().map_or(0, String::len) + functions.sum::<usize>()
    }

    fn encode(&self, out: &mut Encoder<Vec<u8>>) -> Encoded {
        let flags = u8::from(self.artifacts) * ARTIFACTS + u8::from(self.keep) * KEEP;
        let flags = flags + u8::from(self.component) * COMPONENT;
        text_or_null(out.array(4 + u64::from(flags != 0))?, self.prelude.as_deref())?;
        out.bool(self.no_builtins)?.bool(self.extended_value)?.array(self.functions.len() as u64)?;
        for GlobalFunction { name, server, property } in &self.functions {
            out.array(3)?.str(name)?.u32(*server)?.str(property)?;
        }
        if flags == 0 { Ok(()) } else { out.u8(flags)?.ok() }
    }

    fn decode(input: &mut Decoder<'_>) -> Result<Self, decode::Error> {
        let items = length(input)?;
        if items != 4 && items != 5 {
            return Err(decode::Error::message(format!("what stood around a script has {items} items")));
        }
        let prelude = optional_text(input)?.map(str::to_owned);
        let (no_builtins, extended_value) = (input.bool()?, input.bool()?);
        let mut functions = Vec::new();
        for _ in 0..at_most(length(input)?, MAX_FUNCTIONS, "functions")? {
            known(input, 3)?;
            let (name, server, property) = (input.str()?.to_owned(), input.u32()?, input.str()?.to_owned());
            functions.push(GlobalFunction { name, server, property });
        }
        // Without any, nothing is written.
        let flags = match items {
            5 => match input.u8()? {
                bits @ 1..=7 => bits,
                bits => return Err(decode::Error::message(format!("unknown surroundings {bits}"))),
            },
            _ => 0,
        };
        let (artifacts, keep, component) = (flags & ARTIFACTS != 0, flags & KEEP != 0, flags & COMPONENT != 0);
        Ok(Self { prelude, functions, no_builtins, extended_value, artifacts, keep, component })
    }
}

impl Start {
    /// Reads what follows the kind in an entry of this many items.
    pub(crate) fn decode(input: &mut Decoder<'_>, items: u64) -> Result<Self, decode::Error> {
        if items != ITEMS && items != ITEMS + 1 {
            return Err(decode::Error::message(format!("a start has {items} items")));
        }
        let component = digest(input)?;
        let wasmtime = input.str()?.to_owned();
        let source = input.str()?.to_owned();
        let begun_ms = input.u64()?;
        let seed = digest(input)?;
        let limits = limits(input)?;
        let mut servers = Vec::new();
        for _ in 0..at_most(length(input)?, MAX_SERVERS, "servers")? {
            let parts = length(input)?;
            if parts != 2 && parts != 3 {
                return Err(decode::Error::message(format!("a server has {parts} items")));
            }
            let name = input.str()?.to_owned();
            let mut globals = Vec::new();
            for _ in 0..at_most(length(input)?, MAX_GLOBALS, "globals of a server")? {
                globals.push(input.str()?.to_owned());
            }
            let form = if parts == 3 { CallForm::of(input.u8()?)? } else { CallForm::default() };
            servers.push(Server { name, globals, form });
        }
        let surroundings = if items > ITEMS { Surroundings::decode(input)? } else { Surroundings::default() };
        Ok(Self { engine: EngineId { component, wasmtime }, source, begun_ms, seed, limits, servers, surroundings })
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
