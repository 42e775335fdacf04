//! Asks the person at the terminal.

use std::{
    fmt::Display,
    io::{self, IsTerminal as _, Write as _},
};

use belljar_model::{ErrorKind, RunError};
use rand::{TryRngCore as _, rngs::OsRng};

use crate::failure::Failure;

/// Typed codes are numbers below this one.
const CODES: u32 = 10_000;

/// Whether there is a person who can be asked.
pub(crate) fn can_be_asked() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Whether a person at the terminal says yes. If nobody can be asked, nobody has agreed.
pub(crate) fn agreed(question: impl Display) -> bool {
    if !can_be_asked() {
        return false;
    }
    let mut stderr = anstream::stderr();
    let asked = write!(stderr, "{question} [y/N] ").and_then(|()| stderr.flush());
    let mut answer = String::new();
    asked.is_ok()
        && io::stdin().read_line(&mut answer).is_ok()
        && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

/// A random code for a person to type.
pub(crate) fn code() -> Result<String, Failure> {
    let code = OsRng.try_next_u32().map_err(|error| Failure::internal(format!("no code could be made: {error}")))?;
    Ok(format!("{:04}", code % CODES))
}

/// Waits for a person to type what only this terminal shows.
pub(crate) fn types(word: &str, prompt: &str) -> Result<(), Failure> {
    if !can_be_asked() {
        let message = "there is no terminal here to ask at: a decision is typed at a terminal";
        return Err(Failure::usage(message, "run the command in a terminal of your own"));
    }
    forget_what_was_typed();
    let mut stderr = anstream::stderr();
    let asked = write!(stderr, "{prompt}").and_then(|()| stderr.flush());
    let mut line = String::new();
    let read = asked.and_then(|()| io::stdin().read_line(&mut line));
    match read {
        Ok(_) if line.trim() == word => Ok(()),
        _ => Err(RunError::new(ErrorKind::Cancelled, "that does not match: nothing is decided").into()),
    }
}

/// Waits for the owner to type a code that only this terminal shows, as consent. With `--yes`
/// nobody types, if their configuration allows that.
pub(crate) fn owner_agrees(
    yes: bool,
    allow_yes: impl FnOnce() -> Result<bool, Failure>,
    what: &str,
) -> Result<(), Failure> {
    if !yes {
        let code = code()?;
        return types(&code, &format!("type {code} to {what}: "));
    }
    if allow_yes()? {
        return Ok(());
    }
    let hint = "--yes needs [approvals] allow_yes = true in your belljar.toml";
    Err(Failure::usage("--yes is not allowed here: a person has to confirm", hint))
}

/// Discards typed text that was not read yet: nobody agrees to what they have not seen.
pub(crate) fn forget_what_was_typed() {
    #[cfg(target_os = "linux")]
    {
        use nix::sys::termios::{FlushArg, tcflush};
        // Without a terminal there is no typed text.
        let _ = tcflush(io::stdin(), FlushArg::TCIFLUSH);
    }
}
