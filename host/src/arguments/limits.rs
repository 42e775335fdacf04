//! An option for each limit of a run, from the table of limits.

use belljar_model::{ByteSize, LimitKind, LimitSpec, LimitsPatch};
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches, builder::ValueParser, value_parser};

use super::common::duration;

/// The limits that a command line sets.
#[derive(Debug, Clone, Default)]
pub(crate) struct LimitArguments {
    pub(crate) patch: LimitsPatch,
}

impl Args for LimitArguments {
    fn augment_args(command: Command) -> Command {
        command.args(LimitSpec::ALL.iter().map(option))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for LimitArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut limits = Self::default();
        limits.update_from_arg_matches(matches)?;
        Ok(limits)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        for spec in LimitSpec::ALL {
            if let Some(number) = matches.get_one::<u64>(spec.name.as_str()) {
                (spec.set_in)(&mut self.patch, *number);
            }
        }
        Ok(())
    }
}

/// The option of a limit, whose value is parsed to the table's number.
fn option(spec: &LimitSpec) -> Arg {
    let (value_name, parser) = match spec.kind {
        LimitKind::Duration => ("DURATION", ValueParser::new(nanoseconds)),
        LimitKind::Size => ("SIZE", ValueParser::new(bytes)),
        LimitKind::Count => ("N", value_parser!(u64).into()),
    };
    Arg::new(spec.name.as_str())
        .long(spec.name.as_str().replace('_', "-"))
        .value_name(value_name)
        .value_parser(parser)
        .help(format!("{} [default: {}]", spec.summary, spec.default_text()))
}

fn nanoseconds(text: &str) -> Result<u64, String> {
    let duration = duration(text)?;
    // The parser accepts at most 30 days.
    u64::try_from(duration.as_nanos()).map_err(|fault| fault.to_string())
}

fn bytes(text: &str) -> Result<u64, String> {
    text.parse::<ByteSize>().map(|size| size.as_u64())
}
