//! Asking the person at the terminal.

use std::{
    fmt::Display,
    io::{self, IsTerminal as _, Write as _},
};

/// Whether somebody is there who can be asked.
pub(crate) fn can_be_asked() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Whether a person at the terminal says yes. Whoever cannot be asked has not agreed.
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

/// Throws away what was typed and not read yet: nobody agrees to what they have not seen.
pub(crate) fn forget_what_was_typed() {
    #[cfg(target_os = "linux")]
    {
        use nix::sys::termios::{FlushArg, tcflush};
        // What is no terminal has nothing that was typed.
        let _ = tcflush(io::stdin(), FlushArg::TCIFLUSH);
    }
}
