//! `belljar bench`.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
    time::SystemTime,
};

use belljar_measures::{Listed, MeasureError, Pace, Step, Subject, measure, report::Report};
use belljar_model::{ErrorKind, RunError, Transport};
use clap::Args;
use tempfile::NamedTempFile;
use tokio::task::JoinSet;

use crate::{
    arguments::ConfigArguments,
    environment,
    failure::Failure,
    help, output, render,
    serve::definitions,
    setup::{self, Loaded, Setup},
    signals,
};

#[derive(Args)]
#[command(after_help = help::BENCH)]
pub(crate) struct BenchArguments {
    /// Takes a few seconds: runs fewer rounds, and does not measure the cost of limits.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Writes an HTML page with plots.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) async fn bench(arguments: BenchArguments) -> Result<ExitCode, Failure> {
    let loaded = setup::read(&arguments.config)?;
    let told_to_end = signals::told_to_end();
    // An unwritable page is reported before the measurement, not after.
    let page = arguments.html.as_deref().map(Page::open).transpose()?;
    let pace = if arguments.quick { Pace::Quick } else { Pace::Full };
    let subject = subject(loaded, &arguments).await?;
    if cfg!(debug_assertions) {
        output::note("this is a development build of belljar: a release build has different figures");
    }
    let progress = render::bench::progress::show();
    let told = progress.told();
    let mut measuring = JoinSet::new();
    measuring.spawn(async move {
        let told = move |step: Step| {
            tracing::info!("measuring: {}", step.what);
            told.step(step);
        };
        measure(subject, pace, &told).await
    });
    let ended = tokio::select! {
        Some(ended) = measuring.join_next() => Some(ended),
        () = told_to_end => None,
    };
    // Everything under way, including processes and folders, is gone before this process ends.
    measuring.shutdown().await;
    progress.end();
    let report = match ended {
        None => return Err(RunError::new(ErrorKind::Cancelled, "interrupted").into()),
        Some(Err(error)) => return Err(Failure::internal(format!("a measure broke off: {error}"))),
        Some(Ok(measured)) => measured.map_err(failed)?,
    };
    finish(&report, page, arguments.json)
}

fn finish(report: &Report, page: Option<Page>, json: bool) -> Result<ExitCode, Failure> {
    if json {
        output::print_json(report);
    } else {
        render::bench::table::show(report);
    }
    if let Some(page) = page {
        let path = page.write(&render::bench::page::html(report))?;
        output::remark(format_args!("the page is in {}", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// What is measured. Only servers inside this process are started.
async fn subject(loaded: Loaded, arguments: &BenchArguments) -> Result<Subject, Failure> {
    let own = |transport: &Transport| !matches!(transport, Transport::BuiltIn(_));
    let names: Vec<(String, bool)> =
        loaded.config.servers.iter().map(|spec| (spec.name.clone(), own(&spec.transport))).collect();
    let setup = Setup::of(loaded);
    let upstream = setup.toolbox.upstream();
    let mut servers = Vec::with_capacity(names.len());
    for (name, is_own) in names {
        let tools = if is_own { upstream.known_tools(&name).await } else { upstream.tools(&name).await.ok() };
        servers.push(Listed { name, tools, is_built_in: !is_own });
    }
    setup.toolbox.shutdown().await;
    let program = environment::own_program();
    Ok(Subject {
        program: program.ok_or_else(|| Failure::internal("belljar's own program cannot be found"))?,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        profile: if cfg!(debug_assertions) { "dev" } else { "release" },
        now: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        command: command(if arguments.quick { "bench --quick" } else { "bench" }, arguments),
        servers,
        own_tools: definitions::before_a_model(),
        list_with: command("servers", arguments),
    })
}

/// A command with the same configuration.
fn command(command: &str, arguments: &BenchArguments) -> String {
    let mut command = format!("belljar {command}");
    if let Some(config) = &arguments.config.config {
        let path = config.display().to_string();
        let is_plain = |character: char| character.is_ascii_alphanumeric() || "/._-+~:@\\".contains(character);
        let quoted = if path.chars().all(is_plain) { path } else { format!("'{}'", path.replace('\'', r"'\''")) };
        command.push_str(&format!(" --config {quoted}"));
    }
    command
}

fn failed(fault: MeasureError) -> Failure {
    Failure::internal(fault.to_string())
}

/// The file for the page, written as a whole.
struct Page {
    path: PathBuf,
    unfinished: NamedTempFile,
}

impl Page {
    fn open(path: &Path) -> Result<Self, Failure> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut options = tempfile::Builder::new();
        options.prefix(".belljar-bench-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            // Like any file that a program writes for its user: the umask says who can read it.
            options.permissions(std::fs::Permissions::from_mode(0o666));
        }
        if path.is_dir() {
            return Err(unwritable(path, "it is a folder"));
        }
        let unfinished = options.tempfile_in(folder).map_err(|error| unwritable(path, error))?;
        Ok(Self { path: path.to_owned(), unfinished })
    }

    fn write(mut self, html: &str) -> Result<PathBuf, Failure> {
        self.unfinished.write_all(html.as_bytes()).map_err(|error| unwritable(&self.path, error))?;
        self.unfinished.persist(&self.path).map_err(|error| unwritable(&self.path, error.error))?;
        Ok(self.path)
    }
}

fn unwritable(path: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::usage(format!("{} cannot be written: {error}", path.display()), "name another file with --html")
}
