//! `belljar ui`.

use std::{future::pending, process::ExitCode};

use belljar_daemon::requests::{AwaitPage, OpenPage, PageAddress, PageOpened};
use clap::Args;
use serde_json::json;

use crate::{
    arguments::ConfigArguments,
    daemon::{self, Place},
    failure::Failure,
    output,
    page::Handover,
    setup, signals,
};

#[derive(Args)]
pub(crate) struct UiArguments {
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints the path of a file that opens the page, instead of starting a browser.
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) async fn ui(arguments: UiArguments) -> Result<ExitCode, Failure> {
    let UiArguments { config, no_open, json } = arguments;
    let interrupted = signals::told_to_end();
    let loaded = setup::read(&config)?;
    let mut client = match daemon::reach_in_any_case(&loaded).await? {
        Some(client) => client,
        // The built-in demo does not need a daemon; the page does.
        None => daemon::start_at(&Place::of(&loaded)?, &loaded).await?,
    };
    let address: PageAddress = client.ask(&OpenPage {}).await.map_err(daemon::failed)?;
    let handover = Handover::write(&address)?;
    let path = handover.path().display().to_string();
    if no_open {
        output::say("open this file in your browser, within two minutes; it is removed when the page is open:");
        match json {
            true => output::print_json(&json!({ "file": path, "url": address.url })),
            false => output::print(output::visible(&path)),
        }
    }
    let asked = AwaitPage { ticket: address.ticket };
    // The program that opens a browser may return only when the browser ends, long after the page
    // was opened.
    let launched = async {
        match no_open {
            true => pending().await,
            false => handover.open().await,
        }
    };
    let failed = async {
        match launched.await {
            Ok(()) => pending().await,
            Err(failure) => failure,
        }
    };
    let PageOpened { opened } = tokio::select! {
        opened = client.ask(&asked) => opened.map_err(daemon::failed)?,
        failure = failed => return Err(failure),
        () = interrupted => PageOpened { opened: false },
    };
    drop(handover);
    if json && !no_open {
        output::print_json(&json!({ "opened": opened, "url": address.url }));
    }
    if opened {
        output::remark("the page is open");
        return Ok(ExitCode::SUCCESS);
    }
    output::warn("no browser opened the page, and its ticket has expired: run the command again");
    Ok(ExitCode::from(1))
}
