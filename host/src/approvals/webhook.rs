//! The owner's webhook for questions, if the configuration names one.

use std::{sync::Arc, time::Duration};

use belljar_approvals::Question;
use belljar_config::WebhookSettings;
use belljar_gateway::Gateway;
use belljar_webhook::{Settings, Webhook};

/// How long an ending process waits for unsent messages.
const PATIENCE: Duration = Duration::from_secs(3);

/// The webhook, or `None` if the configuration names no address.
#[derive(Clone, Default)]
pub(crate) struct Told(Option<Arc<Webhook>>);

impl Told {
    /// The webhook of the configuration.
    pub(crate) fn of(settings: Option<&WebhookSettings>) -> Self {
        let Some(WebhookSettings { url, secret, arguments }) = settings.cloned() else { return Self::default() };
        let agent = concat!("belljar/", env!("CARGO_PKG_VERSION")).to_owned();
        match Webhook::new(Settings { url, secret, arguments, agent }) {
            Ok(webhook) => Self(Some(Arc::new(webhook))),
            Err(fault) => {
                tracing::warn!("the webhook could not be told of calls that wait for a decision: {fault}");
                Self::default()
            }
        }
    }

    /// The same gateway, which reports its questions.
    pub(crate) fn of_questions(&self, gateway: Gateway) -> Gateway {
        match self.0.clone() {
            Some(webhook) => gateway.with_teller(Arc::new(move |question: &Question| webhook.tell(question))),
            None => gateway,
        }
    }

    /// Waits until everything is sent, within bounds.
    pub(crate) async fn close(&self) {
        if let Some(webhook) = &self.0 {
            webhook.close(PATIENCE).await;
        }
    }
}
