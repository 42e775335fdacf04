//! `belljar request`.

use std::{
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use belljar_daemon::requests::{AskEffect, Call, Execute, ToolEffect};
use belljar_model::{AffectedPointers, Effect, ErrorKind, LimitsPatch, ServerSpec, ToolPath};
use belljar_upstream::{CallError, route_by_folder};
use clap::Args;
use futures::FutureExt as _;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

use super::source;
use crate::{
    arguments::{ConfigArguments, NoDaemon},
    backend::{self, Backend, Meanwhile},
    envelope::{Answer, EXECUTE_CODE, Isolation, Meta, Refusal, Request, TEXT_BYTES},
    environment, help, output,
    render::outcome::SeenError,
    setup, signals,
};

#[derive(Args)]
#[command(after_help = help::REQUEST)]
pub(crate) struct RequestArguments {
    /// The request; without a file, or with -, it is read from stdin.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    #[command(flatten)]
    pub(crate) daemon: NoDaemon,
}

/// Never fails: whatever happens is in the one object that it prints.
pub(crate) async fn request(arguments: RequestArguments) -> ExitCode {
    let answer = answer(&arguments).await;
    output::print_json(&answer);
    ExitCode::from(answer.exit_code())
}

async fn answer(arguments: &RequestArguments) -> Answer {
    let text = match source::read(arguments.file.as_deref(), "a request", TEXT_BYTES) {
        Ok(text) => text,
        Err(failure) => return Answer::refused(Value::Null, failure.into()),
    };
    let echo = match serde_json::from_str(&text) {
        Ok(echo) => echo,
        Err(error) => {
            let suggestion = "a request is one JSON object, as belljar request --help shows";
            return Answer::refused(Value::Null, Refusal::validation(format!("it is not JSON: {error}"), suggestion));
        }
    };
    let asked = match Request::parse(&text) {
        Ok(asked) => asked,
        Err(fault) => {
            let suggestion = "belljar request --help describes a request";
            return Answer::refused(echo, Refusal::validation(format!("the request is wrong: {fault}"), suggestion));
        }
    };
    let begun = Instant::now();
    match carry_out(arguments, &asked, begun).await {
        Ok(Done { done: ActionDone { value, effect, affected, project_root }, mcp_name, isolation_used }) => {
            let duration_ms = (begun.elapsed().as_secs_f64() * 1e6).round() / 1e3;
            let meta = Meta { duration_ms, mcp_name, isolation_used, project_root };
            Answer::succeeded(echo, &asked, value, effect, &affected, meta)
        }
        Err(refusal) => Answer::refused(echo, refusal),
    }
}

struct Done {
    done: ActionDone,
    mcp_name: String,
    isolation_used: Isolation,
}

/// An action that succeeded.
struct ActionDone {
    value: Value,
    effect: Option<Effect>,
    /// Where its result names what it has changed.
    affected: AffectedPointers,
    /// The folder that determined the server's instance.
    project_root: Option<String>,
}

enum Action {
    Tool(ToolPath),
    /// A script, and its requested limits.
    Script(String, Box<LimitsPatch>),
}

impl Action {
    fn of(asked: &Request) -> Result<Self, Refusal> {
        if asked.action != EXECUTE_CODE {
            let path = asked.action.parse().map(Self::Tool);
            return path.map_err(|fault: belljar_model::PathError| {
                Refusal::validation(fault.to_string(), "'action' is SERVER.TOOL or execute_code")
            });
        }
        /// The parameters of a script.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Params {
            code: String,
            #[serde(default)]
            limits: LimitsPatch,
        }
        // Which tools a script calls is known only when it calls them.
        if asked.ceiling() < Effect::External {
            return Err(Refusal::permission(EXECUTE_CODE, Effect::External, asked.ceiling()));
        }
        let Params { code, limits } = serde_json::from_value(Value::Object(asked.params.clone())).map_err(|error| {
            Refusal::validation(format!("the params of execute_code are wrong: {error}"), "they are {code, limits?}")
        })?;
        let timeout = limits.timeout.map_or(asked.timeout(), |timeout| timeout.min(asked.timeout()));
        Ok(Self::Script(code, Box::new(LimitsPatch { timeout: Some(timeout), ..limits })))
    }

    fn mcp_name(&self) -> &str {
        match self {
            Self::Tool(path) => path.server(),
            Self::Script(..) => "belljar",
        }
    }
}

async fn carry_out(arguments: &RequestArguments, asked: &Request, begun: Instant) -> Result<Done, Refusal> {
    let action = Action::of(asked)?;
    let context = &asked.context;
    tracing::info!(action = %asked.action, caller = ?context.caller, project_root = ?context.project_root, "asked");
    let loaded = setup::read_to_call(&arguments.config)?;
    let specs = loaded.config.servers.clone();
    let told_to_end = signals::told_to_end();
    let no_daemon = arguments.daemon.no_daemon || asked.constraints.isolation == Isolation::Subprocess;
    let mut backend = backend::open(loaded, NoDaemon { no_daemon }).await?;
    let done = tokio::select! {
        done = tokio::time::timeout(asked.timeout(), attempts(&mut *backend, (asked, &action), &specs, begun)) => {
            done.unwrap_or_else(|_| Err(Refusal::timeout(asked.timeout().as_millis())))
        }
        () = told_to_end => {
            Err(Refusal::of_kind(ErrorKind::Cancelled, "interrupted; the action may have taken effect".to_owned(), None))
        }
    };
    let isolation_used = backend.isolation();
    backend.close().await;
    let done = done?;
    Ok(Done { done, mcp_name: action.mcp_name().to_owned(), isolation_used })
}

/// Executes it, and repeats it if that is allowed.
async fn attempts(
    backend: &mut dyn Backend,
    (asked, action): (&Request, &Action),
    specs: &[ServerSpec],
    begun: Instant,
) -> Result<ActionDone, Refusal> {
    let mut retries = asked.retries();
    loop {
        let left = asked.timeout().saturating_sub(begun.elapsed());
        match once(backend, (asked, action), specs, left).await? {
            Ok(done) => return Ok(done),
            // A wrong request stays wrong.
            Err(error) if retries > 0 && matches!(error.kind, ErrorKind::Tool | ErrorKind::Busy) => retries -= 1,
            Err(error) => return Err(Refusal::of_kind(error.kind, error.message, error.hint)),
        }
    }
}

/// The tool's exact name, and what a call of it may change, as decisions take it; or why there is
/// no such tool.
async fn effect(backend: &mut dyn Backend, path: &ToolPath) -> Result<Result<(ToolPath, Effect), SeenError>, Refusal> {
    Ok(match backend.effect(AskEffect { tool: path.clone() }).await? {
        ToolEffect { error: Some(error), .. } => Err(parsed(&error)?),
        // Nobody has declared anything about the tool.
        ToolEffect { tool, effect, error: None } => {
            let exact = tool.and_then(|tool| tool.parse().ok()).unwrap_or_else(|| path.clone());
            Ok((exact, effect.unwrap_or(Effect::External)))
        }
    })
}

/// Executes it once, if the request allows its effect.
async fn once(
    backend: &mut dyn Backend,
    (asked, action): (&Request, &Action),
    specs: &[ServerSpec],
    left: Duration,
) -> Result<Result<ActionDone, SeenError>, Refusal> {
    // When the caller gives up, this future is dropped.
    let never = std::future::pending().boxed();
    let (mut affected, mut project_root) = (AffectedPointers::default(), None);
    let (effect, answer) = match action {
        Action::Tool(path) => {
            let (exact, effect) = match effect(backend, path).await? {
                Ok((_, effect)) if effect > asked.ceiling() => {
                    return Err(Refusal::permission(&asked.action, effect, asked.ceiling()));
                }
                Ok(known) => known,
                Err(error) => return Ok(Err(error)),
            };
            let mut params = asked.params.clone();
            if let Some(spec) = specs.iter().find(|spec| spec.name == exact.server()) {
                affected = spec.affected.get(exact.tool()).cloned().unwrap_or_default();
                if let Some(root) = &asked.context.project_root
                    && route_by_folder(spec, &mut params, root).map_err(unroutable)?
                {
                    project_root = Some(root.clone());
                }
            }
            let timeout_ms = Some(u64::try_from(left.as_millis()).unwrap_or(u64::MAX));
            let call = Call { tool: path.clone(), arguments: params, timeout_ms, effect: Some(asked.ceiling()) };
            (Some(effect), backend.call(call, never).await?)
        }
        Action::Script(code, limits) => {
            let workspace = asked.context.project_root.clone().unwrap_or_else(environment::workspace);
            let execute = Execute {
                code: Some(code.clone()),
                limits: (**limits).clone(),
                workspace: Some(workspace),
                ..Execute::default()
            };
            (None, backend.execute(execute, Meanwhile::default(), never).await?.answer)
        }
    };
    let seen: Seen = parsed(&answer)?;
    Ok(match seen.error {
        None => Ok(ActionDone { value: seen.value, effect, affected, project_root }),
        Some(error) => Err(error),
    })
}

fn unroutable(fault: CallError) -> Refusal {
    Refusal::validation(fault.to_string(), "context.project_root is the absolute path of a folder")
}

#[derive(Deserialize)]
struct Seen {
    value: Value,
    error: Option<SeenError>,
}

fn parsed<T: DeserializeOwned>(answer: &RawValue) -> Result<T, Refusal> {
    serde_json::from_str(answer.get()).map_err(|error| {
        Refusal::of_kind(ErrorKind::Internal, format!("the answer cannot be understood: {error}"), None)
    })
}
