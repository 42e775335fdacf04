//! What a program offers, as functions of a run, and the calls of these.

use std::sync::Arc;

use belljar_gateway::{HostAnswer, HostFunctions, HostNamespace, HostTool, HostTools, HostToolsError, Toolbox};
use belljar_host_protocol::{
    self as protocol, Answer, CallFailure, Error, HostFunction, HostRun, Style, Target, codes,
};
use belljar_model::{Effect, JsonBounds, JsonText, Limits, ToolDefinition};
use belljar_sandbox::{CallError, CallStyle};
use futures::{FutureExt as _, future::BoxFuture};
use tokio::{sync::Mutex, task::spawn_blocking};

use super::runner::wrong;

/// What a program offers.
#[derive(PartialEq)]
pub(super) struct Offer {
    pub(super) namespaces: Vec<protocol::HostNamespace>,
    pub(super) functions: Vec<HostFunction>,
    pub(super) builtins: bool,
}

/// What was made of the last offer: most programs offer the same to each run.
#[derive(Default)]
pub(super) struct LastOffer(Arc<Mutex<Option<MadeOffer>>>);

type MadeOffer = (Offer, Arc<HostTools>);

impl LastOffer {
    /// The functions that an offer has. Those of a large one take a while, which no other task of
    /// the thread waits for; a connection has one made at a time.
    pub(super) async fn tools(&self, offer: Offer, toolbox: &Arc<Toolbox>) -> Result<Arc<HostTools>, Error> {
        let mut last = self.0.clone().lock_owned().await;
        if let Some((_, tools)) = last.as_ref().filter(|(known, _)| *known == offer) {
            return Ok(tools.clone());
        }
        let toolbox = toolbox.clone();
        // It has the lock until it is done, even if nobody waits for it any more.
        let made = spawn_blocking(move || {
            let tools = Arc::new(offer.tools(&toolbox)?);
            *last = Some((offer, tools.clone()));
            Ok::<_, HostToolsError>(tools)
        });
        let made = made.await.map_err(|_| Error::new(codes::INTERNAL, "belljar failed to read the functions"))?;
        made.map_err(|error| wrong(&error))
    }
}

impl Offer {
    fn tools(&self, toolbox: &Toolbox) -> Result<HostTools, HostToolsError> {
        let namespace = |offered: &protocol::HostNamespace| HostNamespace {
            name: offered.name.clone(),
            style: style(offered.style),
            tools: offered.tools.iter().map(tool).collect(),
        };
        let namespaces = self.namespaces.iter().map(namespace).collect();
        let function = |function: &HostFunction| (tool(function), style(function.style.unwrap_or_default()));
        HostTools::new(namespaces, self.functions.iter().map(function).collect(), self.builtins, toolbox)
    }
}

fn tool(function: &HostFunction) -> HostTool {
    let mut definition = ToolDefinition::unknown(function.name.as_str());
    definition.description.clone_from(&function.description);
    definition.output_schema.clone_from(&function.output_schema);
    if let Some(schema) = &function.input_schema {
        definition.input_schema.clone_from(schema);
    }
    // What it says of itself decides nothing; as for other tools, saying nothing is the most.
    let effect = function.effect.unwrap_or(Effect::External);
    HostTool { definition, effect, is_checked: function.input_schema.is_some() }
}

fn style(style: Style) -> CallStyle {
    match style {
        Style::Object => CallStyle::Object,
        Style::Positional => CallStyle::Positional,
    }
}

/// Calls the functions of the program at the other end of a connection.
pub(super) struct Functions {
    host: HostRun,
    bounds: JsonBounds,
}

impl Functions {
    pub(super) fn new(host: HostRun, limits: &Limits) -> Self {
        let bytes = usize::try_from(limits.max_result.as_u64()).unwrap_or(usize::MAX);
        Self { host, bounds: JsonBounds::with_bytes(bytes) }
    }
}

impl HostFunctions for Functions {
    fn call(
        &self,
        namespace: Option<&str>,
        function: &str,
        arguments: JsonText,
    ) -> BoxFuture<'static, Result<HostAnswer, CallError>> {
        let target = match namespace {
            Some(namespace) => Target::in_namespace(namespace, function),
            None => Target::global(function),
        };
        let call = self.host.call(&target, &arguments, self.bounds);
        let name = function.to_owned();
        async move {
            match call.await {
                Ok(Answer { value, held }) => Ok(HostAnswer { value, held: Box::new(held) }),
                Err(failure) => Err(fault(failure, &name)),
            }
        }
        .boxed()
    }

    fn overfull(&self) -> Option<usize> {
        self.host.overfull()
    }
}

fn fault(failure: CallFailure, function: &str) -> CallError {
    match failure {
        CallFailure::Failed { message, name } => match name {
            Some(name) => CallError::new(message).with_name(name),
            None => CallError::new(message),
        },
        CallFailure::Malformed(reason) => {
            CallError::new(format!("the host's answer to '{function}' cannot be used: {reason}"))
        }
        CallFailure::Gone => CallError::new(format!("the host is gone, and has not answered '{function}'")),
    }
}
