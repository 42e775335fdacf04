//! `belljar route`: which of a server's projects words lead to, and why. No server is started.

use std::process::ExitCode;

use belljar_catalog::routing::{By, REQUEST_BYTES, Route};
use belljar_gateway::routed_by_words;
use belljar_model::nearest;
use clap::Args;

use crate::{
    arguments::ConfigArguments,
    failure::Failure,
    help,
    output::{self, visible_line},
    setup,
};

#[derive(Args)]
#[command(after_help = help::ROUTE)]
pub(crate) struct RouteArguments {
    /// The name of the server in the configuration.
    #[arg(value_name = "SERVER")]
    pub(crate) server: String,
    /// Words that describe what the call is about.
    #[arg(value_name = "WORDS", required = true)]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn route(arguments: &RouteArguments) -> Result<ExitCode, Failure> {
    let found = setup::find(&arguments.config)?;
    let servers = &found.config.servers;
    let Some(spec) = servers.iter().find(|spec| spec.name == arguments.server) else {
        let near = nearest(&arguments.server, servers.iter().map(|spec| spec.name.as_str()));
        let hint = match near {
            Some(near) => format!("did you mean {near}?"),
            None => "belljar servers lists what is configured".to_owned(),
        };
        return Err(Failure::usage(format!("there is no server '{}'", arguments.server), hint));
    };
    let routed = routed_by_words(spec, &arguments.words.join(" ")).ok_or_else(|| {
        let hint = format!("[servers.{}.projects.NAME] in the configuration gives it some", spec.name);
        Failure::usage(format!("server '{}' has no projects", spec.name), hint)
    })?;
    let (told, route) =
        routed.map_err(|fault| Failure::usage(fault.to_string(), format!("give at most {REQUEST_BYTES} bytes")))?;
    if arguments.json {
        output::print_json(&told);
    } else {
        show(&route);
    }
    Ok(if route.project.is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn show(route: &Route) {
    match &route.project {
        Some(project) => output::print(visible_line(project)),
        None => output::say(visible_line(&route.problem())),
    }
    if route.by == Some(By::Default) {
        output::say(format_args!("no score is {} or more: this is the default", route.threshold));
    }
    for score in &route.scores {
        output::say(format_args!("  {}", visible_line(&score.shown())));
    }
    if route.more > 0 {
        output::say(format_args!("  and {} more", route.more));
    }
}
