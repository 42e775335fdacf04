//! What a client hears while it waits for a run: how long it takes and what it waits for, since
//! clients abandon calls that are silent for long; and its script's logs, if the client wants them.

#![expect(deprecated, reason = "logging is deprecated, and clients of today ask for it")]

use std::{
    convert::Infallible,
    sync::atomic::{AtomicU8, Ordering::Relaxed},
    time::Duration,
};

use belljar_http::Admission;
use belljar_model::LogLevel;
use rmcp::{
    RoleServer,
    model::{LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam},
    service::{Peer, RequestContext},
};
use serde_json::Value;
use tokio::{
    sync::mpsc,
    time::{Instant, MissedTickBehavior, interval_at},
};

use super::seen::{Entry, Seen};

/// Clients wait at least 60 seconds, and few of these pile up for a client that reads nothing.
const EVERY: Duration = Duration::from_secs(5);
/// The source of a message that clients show.
const LOGGER: &str = "script";

/// A run, as far as its client wants to hear of it.
pub(super) struct Following {
    pub(super) seen: Seen,
    log: Option<(u8, mpsc::Receiver<Entry>)>,
}

impl Following {
    /// `of_stdio` is the level that the client on stdin and stdout has set.
    pub(super) fn new(context: &RequestContext<RoleServer>, of_stdio: &AtomicU8) -> Self {
        let level = match context.meta.log_level() {
            Some(level) => number(level),
            None => Admission::of(context)
                .map_or(Some(of_stdio), Admission::log_level)
                .map_or(0, |level| level.load(Relaxed)),
        };
        match level {
            0 => Self { seen: Seen::new(), log: None },
            level => {
                let (seen, entries) = Seen::with_log();
                Self { seen, log: Some((level, entries)) }
            }
        }
    }

    /// Whether anything of the run is reported, so that it must be followed.
    pub(super) fn is_wanted(&self, context: &RequestContext<RoleServer>) -> bool {
        self.log.is_some() || context.meta.get_progress_token().is_some()
    }

    /// Does the work, and reports to the client what it wants to hear.
    pub(super) async fn told_meanwhile<T>(
        self,
        context: &RequestContext<RoleServer>,
        work: impl Future<Output = T>,
    ) -> T {
        let (peer, Self { seen, mut log }) = (&context.peer, self);
        let progress = async {
            let Some(token) = context.meta.get_progress_token() else { return std::future::pending().await };
            let mut ticks = interval_at(Instant::now() + EVERY, EVERY);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                let told = ProgressNotificationParam::new(token.clone(), seen.seconds());
                if let Err(error) = peer.notify_progress(told.with_message(seen.says())).await {
                    tracing::debug!("the client hears of no more progress: {error}");
                    return std::future::pending::<Infallible>().await;
                }
            }
        };
        let logged = async {
            let Some((level, entries)) = &mut log else { return std::future::pending().await };
            while let Some(entry) = entries.recv().await {
                tell(peer, *level, entry).await;
            }
            std::future::pending::<Infallible>().await
        };
        let done = tokio::select! {
            biased;
            done = work => done,
            never = progress => match never {},
            never = logged => match never {},
        };
        // Earlier messages are sent before the end.
        if let Some((level, entries)) = &mut log {
            while let Ok(entry) = entries.try_recv() {
                tell(peer, *level, entry).await;
            }
        }
        done
    }
}

async fn tell(peer: &Peer<RoleServer>, least: u8, entry: Entry) {
    let level = level_of(entry.level);
    if number(level) < least {
        return;
    }
    let text = match entry.left_out {
        0 => entry.text,
        count => format!("[{count} entries are left out]\n{}", entry.text),
    };
    let message = LoggingMessageNotificationParam::new(level, Value::String(text)).with_logger(LOGGER);
    if let Err(error) = peer.notify_logging_message(message).await {
        tracing::debug!("the client does not receive the script's logs: {error}");
    }
}

/// A stored level: 0 is none.
pub(super) fn number(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 1,
        LoggingLevel::Info => 2,
        LoggingLevel::Notice => 3,
        LoggingLevel::Warning => 4,
        LoggingLevel::Error => 5,
        LoggingLevel::Critical => 6,
        LoggingLevel::Alert => 7,
        LoggingLevel::Emergency => 8,
    }
}

fn level_of(level: LogLevel) -> LoggingLevel {
    match level {
        LogLevel::Debug => LoggingLevel::Debug,
        LogLevel::Log | LogLevel::Info => LoggingLevel::Info,
        LogLevel::Warn => LoggingLevel::Warning,
        LogLevel::Error => LoggingLevel::Error,
    }
}
