//! The figures as one self-contained page: without network, scripts or other files.

use std::fmt::Write as _;

use belljar_measures::report::Report;

use super::{
    figure::{bytes, microseconds, milliseconds, whole},
    html::escaped,
    plot,
    sections::{self, Section},
};
use crate::output::visible_line;

const STYLE: &str = include_str!("page.css");

/// The page.
pub(crate) fn html(report: &Report) -> String {
    let mut page = format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>belljar bench</title>
<style>
{STYLE}</style>
</head>
<body>
<header>
<h1>What belljar costs on this machine</h1>
<p class="facts">{}</p>
"#,
        escaped(&sections::machine(&report.machine).join(" · "))
    );
    let Report { version, profile, measured_at, .. } = report;
    let built = if *profile == "release" { "" } else { ", a development build: a release has different figures" };
    let _ = writeln!(page, r#"<p class="facts">belljar {}{built} · {}</p>"#, escaped(version), escaped(measured_at));
    write_tiles(&mut page, report);
    page.push_str("</header>\n<main>\n");
    for section in sections::all(report) {
        write_section(&mut page, &section);
    }
    page.push_str("</main>\n<footer>\n");
    for skipped in &report.skipped {
        let (what, why) = (escaped(&visible_line(&skipped.what)), escaped(&visible_line(&skipped.why)));
        let _ = writeln!(page, "<p>Not measured: {what}: {why}.</p>");
    }
    let command = escaped(&visible_line(&report.command));
    let _ = writeln!(
        page,
        "<p>To repeat it: <code>{command} --html FILE</code>. With <code>--json</code> it prints the same figures for programs.</p>"
    );
    page + "</footer>\n</body>\n</html>\n"
}

/// The most interesting figures.
fn write_tiles(page: &mut String, report: &Report) {
    let fastest = report
        .throughput
        .iter()
        .map(|level| level.runs_per_second)
        .fold(None, |most: Option<f64>, level| Some(most.map_or(level, |most| most.max(level))));
    let tiles = [
        Some((milliseconds(report.cold_start.median_ms), "cold start of the process")),
        Some((microseconds(report.warm_start.median_us), "for a fresh sandbox in a warm one")),
        Some((microseconds(report.sequential_call.each.median_us), "for a tool call")),
        fastest.map(|fastest| (whole(fastest), "runs a second")),
        report.waiting_runs.last().map(|waiting| (bytes(waiting.bytes_per_run), "for a run that waits")),
        report.tokens.saved_percent.map(|percent| match percent {
            0.0.. => (format!("{percent:.1} %"), "fewer tokens for tool definitions"),
            _ => (format!("{:.0} %", -percent), "more tokens: your tools are few"),
        }),
    ];
    page.push_str("<ul class=\"tiles\">\n");
    for (figure, what) in tiles.into_iter().flatten() {
        let _ = writeln!(page, "<li><b>{}</b> {what}</li>", escaped(&figure));
    }
    page.push_str("</ul>\n");
}

fn write_section(page: &mut String, section: &Section) {
    let Section { title, what, headings, rows, plot, remarks } = section;
    let _ = writeln!(page, "<section>\n<h2>{}</h2>\n<p>{}</p>\n<div class=\"pair\">", escaped(title), escaped(what));
    let _ = writeln!(page, "<figure>{}</figure>", plot::svg(title, plot));
    page.push_str("<table>\n<thead><tr>");
    for heading in *headings {
        let _ = write!(page, "<th scope=\"col\">{}</th>", escaped(heading));
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        page.push_str("<tr>");
        for (column, cell) in row.iter().enumerate() {
            let cell = escaped(cell);
            let _ = match column {
                0 if cell.starts_with(' ') => write!(page, "<th scope=\"row\" class=\"part\">{}</th>", cell.trim()),
                0 => write!(page, "<th scope=\"row\">{cell}</th>"),
                _ => write!(page, "<td>{cell}</td>"),
            };
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody>\n</table>\n</div>\n");
    for remark in remarks {
        let _ = writeln!(page, "<p class=\"remark\">{}</p>", escaped(remark));
    }
    page.push_str("</section>\n");
}
