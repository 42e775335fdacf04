//! `belljar skills`: the owner's named scripts.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use belljar_daemon::requests::Execute;
use belljar_gateway::{ListedSkill, ListedSkills, MAX_SKILL_BYTES, SKILLS, is_skill_name};
use belljar_model::{RunIdStart, nearest};
use belljar_recording::Recording;
use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions},
};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{call, run, runs};
use crate::{
    arguments::{ConfigArguments, LimitArguments, NoDaemon, WorkspaceArgument},
    consent,
    failure::Failure,
    output::{self, visible, visible_line},
    setup::{self, Loaded, Setup},
};

#[derive(Args)]
pub(crate) struct SkillsArguments {
    #[command(subcommand)]
    pub(crate) command: SkillsCommand,
}

#[derive(Subcommand)]
pub(crate) enum SkillsCommand {
    /// Lists the scripts and their parameters.
    List {
        #[command(flatten)]
        config: ConfigArguments,
        /// Prints one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Shows the declaration of each script, or why it cannot be called.
    Check {
        /// Only this script.
        name: Option<String>,
        #[command(flatten)]
        config: ConfigArguments,
        /// Prints one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Saves the script of a run under a name, in the folder skills beside belljar.toml.
    Save(SaveArguments),
    /// Runs a script.
    Run(Box<RunSkillArguments>),
}

#[derive(Args)]
pub(crate) struct SaveArguments {
    /// The name: a lower-case letter, then lower-case letters, digits, _ and -.
    pub(crate) name: String,
    /// The run, whose recording must be in the ledger: use belljar run --ledger recordings.
    #[arg(long, value_name = "RUN")]
    pub(crate) run: RunIdStart,
    /// Replaces an existing script of this name.
    #[arg(long)]
    pub(crate) force: bool,
    /// Skips the prompt, if belljar.toml has `[approvals] allow_yes = true`.
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

#[derive(Args)]
pub(crate) struct RunSkillArguments {
    /// The name of the script.
    pub(crate) name: String,
    /// The arguments of the script, as a JSON object; @FILE reads them from a file, - from stdin.
    #[arg(long, value_name = "JSON|@FILE|-", default_value = "{}")]
    pub(crate) input: String,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints the whole outcome as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgument,
    #[command(flatten)]
    pub(crate) limits: LimitArguments,
    #[command(flatten)]
    pub(crate) daemon: NoDaemon,
}

impl SkillsCommand {
    pub(crate) fn is_json(&self) -> bool {
        match self {
            Self::List { json, .. } | Self::Check { json, .. } => *json,
            Self::Run(arguments) => arguments.json,
            Self::Save(_) => false,
        }
    }
}

pub(crate) async fn skills(arguments: SkillsArguments) -> Result<ExitCode, Failure> {
    match arguments.command {
        SkillsCommand::List { config, json } => list(&config, json).await,
        SkillsCommand::Check { name, config, json } => check(name.as_deref(), &config, json).await,
        SkillsCommand::Save(arguments) => save(&arguments).await,
        SkillsCommand::Run(arguments) => run_one(*arguments).await,
    }
}

/// All scripts, read in an engine of this process.
async fn listed(config: &ConfigArguments) -> Result<ListedSkills, Failure> {
    let setup = Setup::of(setup::read(config)?);
    let gateway = setup.gateway().await?;
    let listed = setup.toolbox.listed_skills().await;
    drop(gateway);
    setup.toolbox.shutdown().await;
    Ok(listed)
}

async fn list(config: &ConfigArguments, json: bool) -> Result<ExitCode, Failure> {
    let listed = listed(config).await?;
    if json {
        output::print_json(&listed);
        return Ok(ExitCode::SUCCESS);
    }
    if listed.skills.is_empty() {
        output::say("there is no script with a name: put one into a folder skills beside belljar.toml");
    }
    for ListedSkill { name, summary, signature, .. } in &listed.skills {
        match signature {
            Some(signature) => output::print(format_args!("{}  {}", visible_line(signature), visible_line(summary))),
            None => output::print(format_args!("{name}  cannot be called: belljar skills check {name}")),
        }
    }
    listed.problems.iter().for_each(|problem| output::warn(visible(problem)));
    Ok(ExitCode::SUCCESS)
}

async fn check(name: Option<&str>, config: &ConfigArguments, json: bool) -> Result<ExitCode, Failure> {
    let mut listed = listed(config).await?;
    if let Some(name) = name {
        let names: Vec<String> = listed.skills.iter().map(|skill| skill.name.clone()).collect();
        listed.skills.retain(|skill| skill.name == name);
        if listed.skills.is_empty() {
            return Err(missing(name, names.iter().map(String::as_str)));
        }
        listed.problems.clear();
    }
    let is_ok = listed.problems.is_empty() && listed.skills.iter().all(|skill| skill.ok);
    if json {
        let mut whole = json!(listed);
        if let Value::Object(whole) = &mut whole {
            whole.insert("ok".to_owned(), is_ok.into());
        }
        output::print_json(&whole);
    } else {
        for skill in &listed.skills {
            match (&skill.declaration, &skill.error) {
                (Some(declaration), None) => output::print(visible(declaration)),
                (_, error) => output::complain(error.as_deref().unwrap_or_default(), None),
            }
        }
        listed.problems.iter().for_each(|problem| output::complain(problem, None));
    }
    Ok(if is_ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn missing<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Failure {
    let hint = match nearest(name, names) {
        Some(near) => format!("did you mean {near}?"),
        None => "belljar skills list shows the names".to_owned(),
    };
    Failure::usage(format!("there is no script with the name '{name}'"), hint)
}

async fn save(arguments: &SaveArguments) -> Result<ExitCode, Failure> {
    let SaveArguments { name, run, force, yes, config } = arguments;
    if !is_skill_name(name) {
        let hint = "a name has a lower-case letter first, then lower-case letters, digits, _ and -";
        return Err(Failure::usage(format!("'{}' cannot be the name of a script", visible_line(name)), hint));
    }
    let loaded = setup::read(config)?;
    let folder = loaded.folder_of_skills().ok_or_else(|| {
        Failure::usage("there is no belljar.toml beside which the script could be", "name one with --config")
    })?;
    let others: Vec<PathBuf> =
        loaded.skill_folders().into_iter().map(|other| other.path).filter(|other| *other != folder).collect();
    let allow_yes = loaded.config.approvals.allow_yes;
    let recording = Recording::read(runs::recording(*run).await?)
        .map_err(|error| Failure::internal(format!("the recording of {run} cannot be read: {error}")))?;
    let script = recording.start().script().ok_or_else(|| {
        Failure::usage(format!("{run} is the run of a component, which is not a script"), "name the run of a script")
    })?;
    let text = named(loaded, script).await?;
    let file = folder.join(format!("{name}.ts"));
    let target = target(&folder, &others, name, *force)?;
    output::say(visible(text.trim_end()));
    let shown = file.display().to_string();
    let shown = visible_line(&shown);
    let what = match target {
        Target::New => format!("save this as {shown}"),
        Target::Replaced => format!("replace {shown} by this"),
    };
    consent::owner_agrees(*yes, || Ok(allow_yes), &what)?;
    write(&folder, name, &text, target).map_err(|error| {
        Failure::config(format!("{} cannot be written: {error}", file.display()), "is the folder yours?")
    })?;
    output::note(format_args!("written: {}; say in its comment what it does", file.display()));
    Ok(ExitCode::SUCCESS)
}

/// The source of a run, turned by a jar into that of a named script.
async fn named(loaded: Loaded, source: &str) -> Result<String, Failure> {
    let setup = Setup::of(loaded);
    let gateway = setup.gateway().await?;
    let named = gateway.named_script(source).await;
    setup.toolbox.shutdown().await;
    let text = named.map_err(|why| {
        Failure::usage(format!("the script of this run cannot have a name{why}"), "write it into the folder yourself")
    })?;
    if text.len() > MAX_SKILL_BYTES {
        let message = format!("the script has {} bytes; the limit of one with a name is {MAX_SKILL_BYTES}", text.len());
        return Err(Failure::usage(message, "divide it: scripts with names may call each other"));
    }
    Ok(text)
}

/// How a script is saved.
#[derive(Clone, Copy)]
enum Target {
    New,
    Replaced,
}

/// What is at `NAME.ts` now, and whether it may be replaced.
fn target(folder: &Path, others: &[PathBuf], name: &str, force: bool) -> Result<Target, Failure> {
    let is_in = |folder: &Path, extension: &str| {
        let path = folder.join(format!("{name}.{extension}"));
        path.symlink_metadata().is_ok().then_some(path)
    };
    let is_there = |extension: &str| is_in(folder, extension);
    // The other file and the new one would compete for the name.
    let elsewhere = || others.iter().find_map(|other| is_in(other, "ts").or_else(|| is_in(other, "js")));
    if let Some(other) = is_there("js").or_else(elsewhere) {
        let message = format!("{} has this name", visible_line(&other.display().to_string()));
        return Err(Failure::usage(message, "take another name, or remove it first"));
    }
    match is_there("ts") {
        None => Ok(Target::New),
        Some(_) if force => Ok(Target::Replaced),
        Some(taken) => {
            let message = format!("{} is there already", visible_line(&taken.display().to_string()));
            Err(Failure::usage(message, "take another name, or give --force"))
        }
    }
}

/// Writes `NAME.ts` in the folder, whole or not at all. No link can lead out of the folder.
fn write(path: &Path, name: &str, text: &str, target: Target) -> std::io::Result<()> {
    belljar_files::make_folder(path)?;
    let (above, own) = (path.parent().unwrap_or(Path::new(".")), path.file_name().unwrap_or_default());
    let folder = Dir::open_ambient_dir(above, ambient_authority())?.open_dir(own)?;
    belljar_files::check_folder(&folder, path).map_err(std::io::Error::other)?;
    let (file, unfinished) = (format!("{name}.ts"), format!(".{name}.ts.{}", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let mut written = belljar_files::open(&folder, &unfinished, &mut options)?;
    let mut put = || {
        written.write_all(text.as_bytes())?;
        written.sync_all()?;
        match target {
            // If a link is there, the link itself is replaced, not its target.
            Target::Replaced => folder.rename(&unfinished, &folder, &file),
            // A file that somebody has put there in the meantime is not replaced.
            Target::New => folder.hard_link(&unfinished, &folder, &file),
        }
    };
    let result = put();
    match folder.remove_file(&unfinished) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => result.and(Err(error)),
        _ => result,
    }
}

async fn run_one(arguments: RunSkillArguments) -> Result<ExitCode, Failure> {
    let RunSkillArguments { name, input, config, json, workspace, limits, daemon } = arguments;
    if !is_skill_name(&name) {
        return Err(missing(&name, std::iter::empty()));
    }
    let loaded = setup::read_to_call(&config)?;
    if loaded.skill_folders().is_empty() {
        return Err(missing(&name, std::iter::empty()));
    }
    let input = Value::Object(call::input(&input, loaded.limits().max_arguments.as_u64())?).to_string();
    // The input is passed as a text, so that none of its members means anything to the language.
    let code = format!("return await {SKILLS}[{}](JSON.parse({}));", json!(name), json!(input));
    let workspace = Some(workspace.or_folder());
    let asked = Execute { code: Some(code), limits: limits.patch, workspace, ..Execute::default() };
    run::executed(loaded, daemon, asked, None, json).await
}
