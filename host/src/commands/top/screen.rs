//! The terminal, taken over and given back.

use std::{
    io::{self, Stdout, stdout},
    sync::{
        Arc, Once,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use ratatui::{
    Frame, Terminal,
    backend::CrosstermBackend,
    crossterm::{
        cursor::Show,
        event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
        execute,
        terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode},
    },
};
use tokio::sync::mpsc;

use super::seen::Pressed;

/// How often the thread that reads keys checks whether it is still needed.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How many pressed keys may wait.
const KEYS: usize = 64;

/// The terminal, taken over for as long as this exists.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    keys: mpsc::Receiver<Pressed>,
    is_over: Arc<AtomicBool>,
    _taken: Taken,
}

/// Gives the terminal back when it is dropped, even while a panic unwinds.
struct Taken;

impl Taken {
    fn take() -> io::Result<Self> {
        static PANICS: Once = Once::new();
        // The message of a panic would disappear with the alternate screen.
        PANICS.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                give_back();
                before(panic);
            }));
        });
        let taken = Self;
        enable_raw_mode()?;
        execute!(stdout(), EnterAlternateScreen)?;
        Ok(taken)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        give_back();
    }
}

/// Errors are ignored: they only mean that there is no terminal any more.
fn give_back() {
    let _ = execute!(stdout(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}

impl Screen {
    pub(super) fn open() -> io::Result<Self> {
        let taken = Taken::take()?;
        let terminal = Terminal::new(CrosstermBackend::new(stdout()))?;
        let is_over = Arc::new(AtomicBool::new(false));
        let (press, keys) = mpsc::channel(KEYS);
        let over = is_over.clone();
        // Waiting for keys blocks, so it needs its own thread.
        thread::Builder::new().name("keys".to_owned()).spawn(move || read(&press, &over))?;
        Ok(Self { terminal, keys, is_over, _taken: taken })
    }

    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw).map(|_| ())
    }

    /// The next key; `None` when there will be no more.
    ///
    /// # Cancellation
    /// No key is lost.
    pub(super) async fn pressed(&mut self) -> Option<Pressed> {
        self.keys.recv().await
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.is_over.store(true, Relaxed);
    }
}

fn read(press: &mpsc::Sender<Pressed>, is_over: &AtomicBool) {
    while !is_over.load(Relaxed) {
        let read = match event::poll(LOOK_EVERY) {
            Ok(true) => event::read(),
            Ok(false) => continue,
            Err(error) => Err(error),
        };
        let pressed = match read {
            Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => meaning(key),
            Ok(Event::Resize(..)) => Some(Pressed::Other),
            Ok(_) => None,
            Err(_) => return,
        };
        if let Some(pressed) = pressed
            && press.blocking_send(pressed).is_err()
        {
            return;
        }
    }
}

fn meaning(KeyEvent { code, modifiers, .. }: KeyEvent) -> Option<Pressed> {
    Some(match code {
        KeyCode::Char('c' | 'd') if modifiers.contains(KeyModifiers::CONTROL) => Pressed::End,
        KeyCode::Char('q') => Pressed::End,
        KeyCode::Up | KeyCode::Char('k') => Pressed::Up(1),
        KeyCode::Down | KeyCode::Char('j') => Pressed::Down(1),
        KeyCode::PageUp => Pressed::Up(10),
        KeyCode::PageDown => Pressed::Down(10),
        KeyCode::Enter => Pressed::Open,
        KeyCode::Esc | KeyCode::Backspace => Pressed::Back,
        _ => return None,
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{env, process::Command};

    use super::*;

    /// Set in the process that this test starts on a terminal of its own.
    const ON_A_TERMINAL: &str = "BELLJAR_TEST_ON_A_TERMINAL";

    #[test]
    fn a_panic_gives_the_terminal_back_before_it_says_why() {
        if env::var_os(ON_A_TERMINAL).is_some() {
            let mut screen = Screen::open().expect("a terminal");
            screen.draw(|_| panic!("on purpose")).expect("it panics");
        }
        let name = "commands::top::screen::tests::a_panic_gives_the_terminal_back_before_it_says_why";
        let test = env::current_exe().expect("the test");
        let command = format!("'{}' --exact {name} --nocapture; echo \"code $?\"; stty -a", test.display());
        let mut script = Command::new("script");
        script.args(["--quiet", "--command", &command, "/dev/null"]).env(ON_A_TERMINAL, "1").env("TERM", "xterm");
        let output = script.output().expect("script, of util-linux");
        let text = String::from_utf8_lossy(&output.stdout);
        let (drawn, rest) = text.split_once("on purpose").unwrap_or_else(|| panic!("{text}"));
        let (taken, given_back) = (drawn.rfind("\u{1b}[?1049h"), drawn.rfind("\u{1b}[?1049l"));
        assert!(taken.is_some() && given_back > taken, "{text:?}");
        assert!(drawn.rfind("\u{1b}[?25h") > drawn.rfind("\u{1b}[?25l"), "the cursor is hidden: {text:?}");
        let after = rest.split_once("code 101").unwrap_or_else(|| panic!("{text}")).1;
        assert!(after.contains(" icanon") && !after.contains("-icanon") && !after.contains("-echo "), "{after}");
    }
}
