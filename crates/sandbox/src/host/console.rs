//! The import of `console`.

use belljar_model::{LogLevel, RunStep};

use super::state::RunState;
use crate::{
    bindings::belljar::sandbox::console::{Host, Level},
    place::{NamedPlace, Place},
};

impl Host for RunState {
    fn write(&mut self, level: Level, text: String) -> wasmtime::Result<()> {
        let level = match level {
            Level::Debug => LogLevel::Debug,
            Level::Log => LogLevel::Log,
            Level::Info => LogLevel::Info,
            Level::Warn => LogLevel::Warn,
            Level::Error => LogLevel::Error,
        };
        // A resumed run repeats logs that were already shown.
        let is_new = self.stand_in.is_none();
        let seen = (is_new && self.tools.is_watched()).then(|| RunStep::log(level, &text));
        let is_kept = self.journal.log(level, text, self.limits.max_logs.as_u64(), self.limits.max_log_lines);
        if let Some(step) = seen.filter(|_| is_kept) {
            self.tools.observe(step);
        }
        Ok(())
    }

    fn at(&mut self, line: u32, column: u32) -> wasmtime::Result<()> {
        self.last_place = Some(Place { line, column });
        self.named_place = None;
        Ok(())
    }

    fn at_named(&mut self, file: String, line: u32, column: u32) -> wasmtime::Result<()> {
        self.named_place = NamedPlace::new(file, Place { line, column });
        Ok(())
    }

    fn prelude(&mut self, runs: bool) -> wasmtime::Result<()> {
        self.is_in_prelude = runs;
        Ok(())
    }
}
