//! Draws what is shown, at any size.

use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Style, Stylize as _},
    text::Line,
    widgets::{Cell, Paragraph, Row, Table, TableState},
};

use super::seen::Shown;

/// The width from which a table shows all of its columns.
const WIDE: u16 = 64;

pub(super) fn draw(frame: &mut Frame<'_>, shown: &mut Shown) {
    let rows = [Constraint::Length(1), Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)];
    let [summary, servers, table, keys] = Layout::vertical(rows).areas(frame.area());
    let bold = Style::new().bold();
    let above = shown.fault.clone().unwrap_or_else(|| shown.seen.summary());
    let above = if frame.area().width >= WIDE { format!("belljar: {above}") } else { above };
    frame.render_widget(Line::styled(above, bold), summary);
    frame.render_widget(Paragraph::new(shown.seen.servers()).dim(), servers);
    match shown.open {
        None => runs(frame, table, shown),
        Some(_) => calls(frame, table, shown),
    }
    let known = match shown.open {
        None => "up, down: choose  Enter: its calls  q: end",
        Some(_) => "up, down: scroll  Esc: back  q: end",
    };
    frame.render_widget(Line::from(known).dim(), keys);
}

fn runs(frame: &mut Frame<'_>, area: Rect, shown: &Shown) {
    if shown.seen.runs.is_empty() {
        let text = "no runs yet; for finished runs, use: belljar runs";
        return frame.render_widget(Paragraph::new(text), area);
    }
    let is_wide = area.width >= WIDE;
    let rows = shown.seen.runs.iter().map(|run| {
        let [name, state, took, asker] = run.cells();
        match is_wide {
            true => Row::new([name, state, took, asker]),
            false => Row::new([name, state, took]),
        }
    });
    let (widths, titles): (Vec<Constraint>, Vec<&str>) = match is_wide {
        true => (
            vec![Constraint::Length(16), Constraint::Length(12), Constraint::Length(10), Constraint::Min(10)],
            vec!["run", "state", "took", "for"],
        ),
        false => {
            (vec![Constraint::Length(16), Constraint::Min(8), Constraint::Length(9)], vec!["run", "state", "took"])
        }
    };
    let table = Table::new(rows, widths)
        .header(Row::new(titles).style(Style::new().dim()))
        .row_highlight_style(Style::new().reversed());
    let mut state = TableState::new().with_selected(shown.row());
    frame.render_stateful_widget(table, area, &mut state);
}

fn calls(frame: &mut Frame<'_>, area: Rect, shown: &mut Shown) {
    let open = shown.seen.open.as_ref().filter(|run| Some(run.run) == shown.open);
    let Some(run) = open else {
        let text = "this run is not known here; belljar runs show has its record";
        return frame.render_widget(Paragraph::new(text), area);
    };
    let [name, state, ..] = run.cells();
    let more = if run.more_calls > 0 { format!(" (+{})", run.more_calls) } else { String::new() };
    let [title, table] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    let text = format!("{name} {state}, {} calls{more}", run.calls.len());
    frame.render_widget(Line::from(text), title);
    // There may be fewer calls than when the key was pressed.
    shown.first_call = shown.first_call.min(run.calls.len().saturating_sub(1));
    let is_wide = area.width >= WIDE;
    let rows = run.calls.iter().skip(shown.first_call).take(usize::from(table.height)).map(|call| {
        let [number, tool, state, begun, took, progress] = call.cells();
        match is_wide {
            true => Row::new([number, tool, state, begun, took, progress].map(Cell::from)),
            false => Row::new([tool, state, took].map(Cell::from)),
        }
    });
    let (widths, titles): (Vec<Constraint>, Vec<&str>) = match is_wide {
        true => (
            vec![
                Constraint::Length(5),
                Constraint::Min(20),
                Constraint::Length(10),
                Constraint::Length(9),
                Constraint::Length(9),
                Constraint::Fill(1),
            ],
            vec!["call", "tool", "state", "at", "took", "says"],
        ),
        false => {
            (vec![Constraint::Min(12), Constraint::Length(8), Constraint::Length(9)], vec!["tool", "state", "took"])
        }
    };
    let header = Row::new(titles).style(Style::new().dim());
    frame.render_widget(Table::new(rows, widths).header(header), table);
}

#[cfg(test)]
mod tests {
    use ratatui::{Terminal, backend::TestBackend};
    use serde_json::json;

    use super::{
        super::seen::{Pressed, Seen, Shown},
        *,
    };

    fn drawn(shown: &mut Shown, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
        terminal.draw(|frame| draw(frame, shown)).expect("a drawing");
        let buffer = terminal.backend().buffer();
        let line = |row| (0..width).map(|column| buffer[(column, row)].symbol()).collect::<String>();
        (0..height).map(|row| line(row).trim_end().to_owned() + "\n").collect()
    }

    /// A daemon with a run of a hostile client, whose server and tools have hostile names.
    fn hostile() -> Seen {
        let call = |number: u64| {
            json!({ "number": number, "server": "evil\u{1b}[2J", "tool": format!("t{number}\n\u{202e}{}", "x".repeat(5000)),
                "effect": "external", "state": if number == 0 { "waiting" } else { "ok" }, "begun_ms": 1.5,
                "ms": if number == 0 { None } else { Some(12_345.0) }, "progress": "half\r\u{7}way" })
        };
        let run = |bits: u64, state: &str, calls: u64| {
            json!({ "run": belljar_model::RunId::from_bits(bits), "origin": "serve",
                "principal": if bits == 3 { Some("alice") } else { None },
                "client": "Cl\u{1b}]0;owned\u{7}aude", "state": state, "error": null, "ms": null,
                "calls": (0..calls).map(call).collect::<Vec<_>>(), "more_calls": 7 })
        };
        Seen {
            runs: serde_json::from_value(json!([run(1, "running", 0), run(2, "ended", 0), run(3, "queued", 0)]))
                .expect("runs"),
            open: Some(serde_json::from_value(run(2, "ended", 100)).expect("a run")),
            children: serde_json::from_value(json!([{ "name": "evil\u{1b}[31m", "state": "ready" }]))
                .expect("children"),
            waiting: Some(3),
        }
    }

    #[test]
    fn runs_and_calls_are_readable_at_the_usual_size_and_at_a_small_one() {
        for (width, height) in [(80, 24), (40, 10)] {
            let mut shown = Shown { seen: hostile(), ..Shown::default() };
            let text = drawn(&mut shown, width, height);
            assert!(text.contains("1 running, 1 queued, 3 wait for you"), "{text}");
            assert!(text.contains("running") && text.contains("r_0000000000002") && text.contains("Enter"), "{text}");
            assert_eq!(text.contains("serve (Cl\\u{1b}"), width == 80, "{text}");
            assert_eq!(text.contains("alice (Cl\\u{1b}"), width == 80, "{text}");
            shown.press(Pressed::Down(1));
            assert_eq!(shown.press(Pressed::Open), Some(belljar_model::RunId::from_bits(2)));
            shown.seen = hostile();
            let text = drawn(&mut shown, width, height);
            assert!(text.contains("ok, 100 calls (+7)") && text.contains("evil") && text.contains("Esc"), "{text}");
            assert!(text.contains("12 s"), "{text}");
            shown.press(Pressed::Down(10));
            shown.press(Pressed::Back);
            assert!(drawn(&mut shown, width, height).contains("Enter"));
        }
    }

    #[test]
    fn no_name_of_others_acts_on_the_terminal_and_no_size_is_too_small() {
        for (width, height) in [(0, 0), (1, 1), (3, 2), (40, 3), (500, 200)] {
            let mut shown = Shown { seen: hostile(), ..Shown::default() };
            for pressed in [Pressed::Other, Pressed::Down(100), Pressed::Open, Pressed::Down(1000), Pressed::Up(3)] {
                shown.press(pressed);
                shown.seen = hostile();
                let text = drawn(&mut shown, width, height);
                let acts = |character: char| (character.is_control() && character != '\n') || character == '\u{202e}';
                assert!(!text.contains(acts), "{text:?}");
            }
        }
        let mut shown = Shown::default();
        shown.take(&Err("it \u{1b}[2J ended".to_owned()));
        assert!(drawn(&mut shown, 80, 24).starts_with("belljar: it \\u{1b}[2J ended"));
    }

    #[test]
    fn the_chosen_run_stays_chosen_while_others_come_and_go() {
        let mut shown = Shown { seen: hostile(), ..Shown::default() };
        shown.press(Pressed::Down(1));
        shown.seen.runs.remove(0);
        assert_eq!(shown.row(), Some(0));
        shown.seen.runs.clear();
        assert_eq!((shown.row(), shown.press(Pressed::Open)), (None, None));
        shown.press(Pressed::Down(1));
    }
}
