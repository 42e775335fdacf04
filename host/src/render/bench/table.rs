//! The figures as aligned tables.

use belljar_measures::report::Report;

use super::sections::{self, Section};
use crate::output::{self, DIM, STRONG, visible_line};

pub(crate) fn show(report: &Report) {
    let machine = sections::machine(&report.machine).join(" · ");
    let Report { version, profile, measured_at, .. } = report;
    output::print(format_args!("{DIM}belljar {version} ({profile}) · {machine} · {measured_at}{DIM:#}"));
    let sections = sections::all(report);
    // Measurements with the same columns share a table.
    for together in sections.chunk_by(|one, other| one.headings == other.headings) {
        output::print("");
        show_table(together);
    }
    if !report.skipped.is_empty() {
        output::print("");
    }
    for skipped in &report.skipped {
        let (what, why) = (visible_line(&skipped.what), visible_line(&skipped.why));
        output::print(format_args!("{DIM}not measured: {what}: {why}{DIM:#}"));
    }
    output::print("");
    output::print(format_args!("{DIM}to repeat it: {}{DIM:#}", visible_line(&report.command)));
}

fn show_table(sections: &[Section]) {
    let headings: Vec<String> =
        sections.iter().take(1).flat_map(|section| section.headings).map(|heading| heading.to_uppercase()).collect();
    let rows: Vec<&Vec<String>> = sections.iter().flat_map(|section| &section.rows).collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).chain(headings.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let line = |cells: &[String]| -> String {
        let padded = cells.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    output::print(format_args!("{STRONG}{}{STRONG:#}", line(&headings)));
    for row in rows {
        output::print(line(row));
    }
    for remark in sections.iter().flat_map(|section| &section.remarks) {
        output::print(format_args!("{DIM}  {remark}{DIM:#}"));
    }
}
