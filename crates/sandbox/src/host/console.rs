//! The import of `console`.

use belljar_model::LogLevel;

use super::{
    RunState,
    glass::belljar::sandbox::console::{Host, Level},
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
        self.journal.log(level, text, self.limits.max_logs.as_u64(), self.limits.max_log_lines);
        Ok(())
    }
}
