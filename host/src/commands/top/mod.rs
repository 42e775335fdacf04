//! `belljar top`: what the daemon's runs are doing now, in the terminal.
//!
//! `seen.rs` has what is shown: it reads the daemon's answers and handles keys. `drawn.rs` draws
//! it. `screen.rs` takes over the terminal and gives it back, whatever happens.

mod drawn;
mod screen;
mod seen;

use std::{io::IsTerminal as _, process::ExitCode, time::Duration};

use belljar_daemon::{
    DaemonClient,
    requests::{AskLive, Live},
};
use belljar_model::RunId;
use clap::Args;
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

use self::{
    screen::Screen,
    seen::{Pressed, Seen, Shown},
};
use crate::{
    arguments::ConfigArguments,
    daemon::{self, Place},
    failure::Failure,
    output, setup, signals,
};

/// How often the daemon is asked.
const EVERY: Duration = Duration::from_millis(500);
/// How long the daemon may take to answer before the screen says so.
const ANSWER: Duration = Duration::from_secs(5);

#[derive(Args)]
pub(crate) struct TopArguments {
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints the current state as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) async fn top(arguments: TopArguments) -> Result<ExitCode, Failure> {
    let told_to_end = signals::told_to_end();
    let place = Place::of(&setup::read(&arguments.config)?)?;
    let Some(mut client) = DaemonClient::connect(&place.address).await.map_err(daemon::unreachable)? else {
        match arguments.json {
            true => output::print_json(&serde_json::json!({ "running": false })),
            false => {
                output::say("no daemon is running for this configuration; the next command that needs one starts it")
            }
        }
        return Ok(ExitCode::from(1));
    };
    let asked = AskLive::default();
    let live = timeout(ANSWER, client.ask(&asked)).await;
    let live: Live = live.map_err(|_| Failure::internal("the daemon does not answer"))?.map_err(daemon::failed)?;
    if arguments.json {
        output::print_json(&live);
        return Ok(ExitCode::SUCCESS);
    }
    let first = Seen::of(&live).map_err(Failure::internal)?;
    if !(std::io::stdin().is_terminal() && std::io::stdout().is_terminal()) {
        output::remark("there is no terminal here, so this is printed once");
        first.lines().for_each(output::print);
        return Ok(ExitCode::SUCCESS);
    }
    let (asked, asks) = watch::channel(None);
    let (tell, mut told) = watch::channel(Ok(first));
    let asking = tokio::spawn(ask(client, place, asks, tell));
    let ended = shown(&asked, &mut told, told_to_end).await;
    asking.abort();
    ended.map_err(|error| Failure::internal(format!("the terminal cannot be used: {error}")))?;
    Ok(ExitCode::SUCCESS)
}

/// Asks the daemon again and again. When it has ended, connects to the next one.
async fn ask(
    client: DaemonClient,
    place: Place,
    mut asks: watch::Receiver<Option<RunId>>,
    tell: watch::Sender<Result<Seen, String>>,
) {
    let mut client = Some(client);
    loop {
        let run = *asks.borrow_and_update();
        let answer = match &mut client {
            Some(client) => {
                timeout(ANSWER, client.ask(&AskLive { run })).await.map_err(|_| "the daemon does not answer".to_owned())
            }
            None => Err("no daemon is running".to_owned()),
        };
        let seen = match answer {
            Ok(Ok(live)) => Seen::of(&live),
            Ok(Err(fault)) => Err(fault.to_string()),
            Err(text) => Err(text),
        };
        if seen.is_err() {
            client = DaemonClient::connect(&place.address).await.ok().flatten();
        }
        if tell.send(seen).is_err() {
            return;
        }
        tokio::select! {
            () = sleep(EVERY) => {}
            changed = asks.changed() => if changed.is_err() {
                return;
            },
        }
    }
}

/// Shows the screen until the user or a signal ends it.
async fn shown(
    asked: &watch::Sender<Option<RunId>>,
    told: &mut watch::Receiver<Result<Seen, String>>,
    told_to_end: impl Future<Output = ()>,
) -> std::io::Result<()> {
    let mut told_to_end = std::pin::pin!(told_to_end);
    let mut screen = Screen::open()?;
    let mut state = Shown::default();
    loop {
        state.take(&told.borrow_and_update());
        screen.draw(|frame| drawn::draw(frame, &mut state))?;
        tokio::select! {
            changed = told.changed() => if changed.is_err() {
                return Err(std::io::Error::other("the daemon is not asked any more"));
            },
            pressed = screen.pressed() => match pressed {
                None | Some(Pressed::End) => return Ok(()),
                Some(pressed) => {
                    let run = state.press(pressed);
                    asked.send_if_modified(|known| std::mem::replace(known, run) != run);
                }
            },
            () = &mut told_to_end => return Ok(()),
        }
    }
}
