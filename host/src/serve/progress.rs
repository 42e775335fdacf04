//! What a client that waits for a run hears meanwhile: clients give up calls that say nothing for long.

use std::time::Duration;

use rmcp::{RoleServer, model::ProgressNotificationParam, service::RequestContext};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

/// Clients wait for 60 seconds at least; a client that reads nothing has few of these in its way.
const EVERY: Duration = Duration::from_secs(5);

/// Does the work, and tells the client every few seconds how long it has taken, if it wants to hear that.
pub(super) async fn told_meanwhile<T>(context: &RequestContext<RoleServer>, work: impl Future<Output = T>) -> T {
    let Some(token) = context.meta.get_progress_token() else { return work.await };
    let telling = async {
        let began = Instant::now();
        let mut ticks = interval_at(began + EVERY, EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let seconds = began.elapsed().as_secs_f64().round();
            let told = ProgressNotificationParam::new(token.clone(), seconds)
                .with_message(format!("the script has been running for {seconds} s"));
            if let Err(error) = context.peer.notify_progress(told).await {
                tracing::debug!("the client hears of no more progress: {error}");
                break;
            }
        }
        std::future::pending::<std::convert::Infallible>().await
    };
    tokio::select! {
        biased;
        done = work => done,
        never = telling => match never {},
    }
}
