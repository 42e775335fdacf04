//! What a program offers, as functions of a run, and the calls of these functions.

use std::sync::Arc;

use belljar_gateway::{HostAnswer, HostFunctions, HostNamespace, HostTool, HostTools, HostToolsError, Toolbox};
use belljar_host_protocol::{
    self as protocol, Answer, CallFailure, Error, HostFunction, HostRun, Style, Target, codes,
};
use belljar_model::{Effect, JsonBounds, JsonText, Limits, ToolDefinition};
use belljar_sandbox::{CallError, CallStyle};
use futures::{FutureExt as _, future::BoxFuture};
use tokio::{sync::Mutex, task::spawn_blocking};

use super::{asker::HostAsker, runner::wrong};

/// How many bytes the last offer of a principal's connection may have to be kept: a few hundred
/// functions.
const KEPT_OF_PRINCIPAL: usize = 2 << 20;

/// What a program offers.
#[derive(Clone, PartialEq)]
pub(super) struct Offer {
    pub(super) namespaces: Vec<protocol::HostNamespace>,
    pub(super) functions: Vec<HostFunction>,
    pub(super) builtins: bool,
}

/// What was made from the last offer: most programs make the same offer for each run.
pub(super) struct LastOffer {
    made: Arc<Mutex<Option<MadeOffer>>>,
    /// How many bytes an offer may have to be kept.
    most: usize,
}

type MadeOffer = (Offer, Arc<HostTools>);

impl LastOffer {
    /// Creates it for a connection of this asker.
    pub(super) fn of(asker: &HostAsker) -> Self {
        let most = match asker {
            HostAsker::Owner => usize::MAX,
            HostAsker::Principal { .. } => KEPT_OF_PRINCIPAL,
        };
        Self { made: Arc::default(), most }
    }

    /// The functions of an offer, in a request of this many bytes. A large offer takes a while, so
    /// it is handled on a thread of its own. A connection has one handled at a time.
    pub(super) async fn tools(
        &self,
        offer: Offer,
        weight: usize,
        toolbox: &Arc<Toolbox>,
    ) -> Result<Arc<HostTools>, Error> {
        let mut last = self.made.clone().lock_owned().await;
        if let Some((_, tools)) = last.as_ref().filter(|(known, _)| *known == offer) {
            return Ok(tools.clone());
        }
        let (toolbox, is_kept) = (toolbox.clone(), weight <= self.most);
        // The thread holds the lock until it is done, even if nobody waits for it any more.
        let made = spawn_blocking(move || {
            let kept = is_kept.then(|| offer.clone());
            let tools = Arc::new(offer.into_tools(&toolbox)?);
            if let Some(offer) = kept {
                *last = Some((offer, tools.clone()));
            }
            Ok::<_, HostToolsError>(tools)
        });
        let made = made.await.map_err(|_| Error::new(codes::INTERNAL, "belljar failed to read the functions"))?;
        made.map_err(|error| wrong(&error))
    }
}

impl Offer {
    fn into_tools(self, toolbox: &Toolbox) -> Result<HostTools, HostToolsError> {
        let namespace = |offered: protocol::HostNamespace| HostNamespace {
            name: offered.name,
            style: style(offered.style),
            tools: offered.tools.into_iter().map(tool).collect(),
        };
        let function = |function: HostFunction| {
            let style = style(function.style.unwrap_or_default());
            (tool(function), style)
        };
        let namespaces = self.namespaces.into_iter().map(namespace).collect();
        HostTools::new(namespaces, self.functions.into_iter().map(function).collect(), self.builtins, toolbox)
    }
}

fn tool(function: HostFunction) -> HostTool {
    let HostFunction { name, style: _, description, effect, input_schema, output_schema } = function;
    let is_checked = input_schema.is_some();
    let mut definition = ToolDefinition { description, output_schema, ..ToolDefinition::unknown(name) };
    if let Some(schema) = input_schema {
        definition.input_schema = schema;
    }
    // What the program says about its own function decides nothing. As with other tools, an
    // undeclared effect counts as the highest.
    HostTool { definition, effect: effect.unwrap_or(Effect::External), is_checked }
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
