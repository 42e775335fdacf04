//! `console.table`, drawn as Node draws it.

use boa_engine::{Context, JsObject, JsResult, JsString, JsValue, property::PropertyKey};
use unicode_width::UnicodeWidthStr as _;

use belljar_guest_engine::{
    collections::{Map, Set},
    originals::{enumerable_keys, is_array},
};
use belljar_guest_values::inspect;

/// Rows that are drawn; the others are counted.
const MAX_ROWS: usize = 1_000;
/// Columns that are drawn; the others are left out, and said to be.
const MAX_COLUMNS: usize = 100;

/// A column: its name, and the cells that are filled.
struct Column {
    name: String,
    cells: Vec<(usize, String)>,
}

impl Column {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), cells: Vec::new() }
    }
}

/// The table of these arguments, unless the first is not an object.
pub(super) fn drawn(arguments: &[JsValue], context: &mut Context) -> JsResult<Option<String>> {
    let Some(data) = arguments.first().and_then(JsValue::as_object) else { return Ok(None) };
    let mut index = Column::new("(iteration index)");
    let mut rows = 0;
    let (columns, left) = if let Some(entries) = Map::entries_of(&data) {
        let (mut keys, mut values) = (Column::new("Key"), Column::new("Values"));
        for (row, (key, value)) in entries.iter().enumerate().take(MAX_ROWS) {
            keys.cells.push((row, cell(key, context)?));
            values.cells.push((row, cell(value, context)?));
            rows = row + 1;
        }
        (vec![keys, values], entries.len() - rows)
    } else if let Some(values) = Set::members_of(&data) {
        let mut column = Column::new("Values");
        for (row, value) in values.iter().enumerate().take(MAX_ROWS) {
            column.cells.push((row, cell(value, context)?));
            rows = row + 1;
        }
        (vec![column], values.len() - rows)
    } else {
        index.name = "(index)".to_owned();
        let keys = enumerable_keys(&data, context)?;
        rows = keys.len().min(MAX_ROWS);
        for (row, key) in keys.iter().enumerate().take(MAX_ROWS) {
            index.cells.push((row, key.to_std_string_lossy()));
        }
        (of_members(&data, keys.get(..rows).unwrap_or_default(), arguments.get(1), context)?, keys.len() - rows)
    };
    if index.cells.is_empty() {
        index.cells = (0..rows).map(|row| (row, row.to_string())).collect();
    }
    let mut drawn = draw(&index, &columns, rows);
    if left > 0 {
        drawn.push_str(&format!("\n... {left} more rows"));
    }
    Ok(Some(drawn))
}

/// A column for each key that the rows have, and one for rows that are no objects.
fn of_members(
    data: &JsObject,
    keys: &[JsString],
    wanted: Option<&JsValue>,
    context: &mut Context,
) -> JsResult<Vec<Column>> {
    let wanted = match wanted.and_then(JsValue::as_object) {
        Some(wanted) => {
            let mut names = Vec::new();
            for key in enumerable_keys(&wanted, context)? {
                names.push(wanted.get(PropertyKey::from(key), context)?.to_string(context)?);
            }
            Some(names)
        }
        None => None,
    };
    let mut columns: Vec<(JsString, Column)> = Vec::new();
    let mut values = Column::new("Values");
    let mut left_out = 0;
    for (row, key) in keys.iter().enumerate() {
        let item = data.get(PropertyKey::from(key.clone()), context)?;
        let object = item.as_object();
        if object.is_none() && wanted.is_none() {
            values.cells.push((row, cell(&item, context)?));
            continue;
        }
        let names = match (&wanted, &object) {
            (Some(wanted), _) => wanted.clone(),
            (None, Some(object)) => enumerable_keys(object, context)?,
            (None, None) => Vec::new(),
        };
        for name in names {
            let known = columns.iter().position(|(other, _)| *other == name);
            let place = match known {
                Some(place) => place,
                None if columns.len() >= MAX_COLUMNS => {
                    left_out += 1;
                    continue;
                }
                None => {
                    columns.push((name.clone(), Column::new(&name.to_std_string_lossy())));
                    columns.len() - 1
                }
            };
            let key = PropertyKey::from(name);
            if let Some(object) = &object
                && object.has_own_property(key.clone(), context)?
            {
                let shown = object.get(key, context)?;
                let shown = cell(&shown, context)?;
                columns[place].1.cells.push((row, shown));
            }
        }
    }
    // Numbers come first, as among the keys of any object.
    let number = |name: &JsString| name.to_std_string_lossy().parse::<u32>().ok();
    columns.sort_by_key(|(name, _)| number(name).map_or((1, 0), |number| (0, number)));
    let mut columns: Vec<Column> = columns.into_iter().map(|(_, column)| column).collect();
    if !values.cells.is_empty() {
        columns.push(values);
    }
    if left_out > 0 {
        columns.push(Column::new("..."));
    }
    Ok(columns)
}

/// A value as a cell shows it: an object of more than two members not at all.
fn cell(value: &JsValue, context: &mut Context) -> JsResult<String> {
    let is_closed = match value.as_object() {
        Some(object) if !is_array(&object, context) => enumerable_keys(&object, context)?.len() > 2,
        _ => false,
    };
    Ok(inspect::cell(value, is_closed, context))
}

fn draw(index: &Column, columns: &[Column], rows: usize) -> String {
    let columns: Vec<&Column> = std::iter::once(index).chain(columns).collect();
    let width = |column: &&Column| {
        let cells = column.cells.iter().map(|(_, text)| text.width());
        cells.chain([column.name.width()]).max().unwrap_or_default() + 2
    };
    let widths: Vec<usize> = columns.iter().map(width).collect();
    let rule = |left: &str, between: &str, right: &str| {
        let dashes: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        format!("{left}{}{right}", dashes.join(between))
    };
    let line = |cells: Vec<&str>| {
        let padded = cells.iter().zip(&widths).map(|(text, width)| {
            let space = width.saturating_sub(text.width() + 1);
            format!(" {text}{}", " ".repeat(space))
        });
        format!("│{}│", padded.collect::<Vec<_>>().join("│"))
    };
    let mut lines = vec![
        rule("┌", "┬", "┐"),
        line(columns.iter().map(|column| column.name.as_str()).collect()),
        rule("├", "┼", "┤"),
    ];
    let mut next = vec![0; columns.len()];
    for row in 0..rows {
        let cells = columns.iter().zip(&mut next).map(|(column, next)| match column.cells.get(*next) {
            Some((place, text)) if *place == row => {
                *next += 1;
                text.as_str()
            }
            _ => "",
        });
        lines.push(line(cells.collect()));
    }
    lines.push(rule("└", "┴", "┘"));
    lines.join("\n")
}
