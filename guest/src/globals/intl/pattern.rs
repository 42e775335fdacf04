//! Where the fields of a date stand in English: `Jan 2, 2024`, `2 Jan 2024`, `2024-01-02`.

use super::{Part, locale::Region};

/// How a name is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    Long,
    Short,
    Narrow,
}

/// How a number is written, or a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Numeric,
    TwoDigit,
    Name(Width),
}

/// What is shown of a date and of a time of day.
#[derive(Debug, Clone, Default)]
pub(super) struct Fields {
    pub(super) weekday: Option<Width>,
    pub(super) has_era: bool,
    pub(super) year: Option<Field>,
    pub(super) month: Option<Field>,
    pub(super) day: Option<Field>,
    pub(super) hour: Option<Field>,
    pub(super) minute: Option<Field>,
    pub(super) second: Option<Field>,
    pub(super) fraction: usize,
    /// `long`, or short.
    pub(super) zone: Option<Width>,
}

impl Fields {
    pub(super) fn has_date(&self) -> bool {
        self.weekday.is_some() || self.year.is_some() || self.month.is_some() || self.day.is_some()
    }

    pub(super) fn has_time(&self) -> bool {
        self.hour.is_some() || self.minute.is_some() || self.second.is_some() || self.fraction > 0
    }
}

/// How hours are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hours {
    /// 1 to 12, or 0 to 11.
    Twelve { from_zero: bool },
    /// 0 to 23, or 1 to 24.
    TwentyFour { from_one: bool },
}

/// A point in time, as a calendar and a clock show it.
pub(super) struct Moment {
    pub(super) year: i64,
    pub(super) month: u32,
    pub(super) day: u32,
    /// 0 is Sunday.
    pub(super) weekday: usize,
    pub(super) hour: u32,
    pub(super) minute: u32,
    pub(super) second: u32,
    pub(super) millisecond: u32,
    pub(super) zone_name: String,
}

const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

fn name(name: &str, width: Width, region: Region) -> String {
    match width {
        Width::Long => name.to_owned(),
        Width::Short if name == "September" && region == Region::Britain => "Sept".to_owned(),
        Width::Short => name.chars().take(3).collect(),
        Width::Narrow => name.chars().take(1).collect(),
    }
}

fn padded(number: i64, field: Field) -> String {
    if field == Field::TwoDigit { format!("{:02}", number.rem_euclid(100)) } else { number.to_string() }
}

/// A moment as text in pieces.
pub(super) fn written(moment: &Moment, fields: &Fields, hours: Hours, region: Region) -> Vec<Part> {
    let mut parts = date(moment, fields, region);
    if fields.has_time() {
        if !parts.is_empty() {
            let is_long = fields.month == Some(Field::Name(Width::Long));
            let is_weekday_alone = fields.year.is_none() && fields.month.is_none() && fields.day.is_none();
            let joint = match () {
                () if is_long => " at ",
                () if is_weekday_alone && region == Region::UnitedStates => " ",
                () => ", ",
            };
            parts.push(("literal", joint.to_owned()));
        }
        parts.extend(time(moment, fields, hours, region));
    }
    if fields.zone.is_some() {
        let joint = if fields.has_time() { " " } else { ", " };
        parts.push(("literal", joint.to_owned()));
        parts.push(("timeZoneName", moment.zone_name.clone()));
    }
    parts
}

fn date(moment: &Moment, fields: &Fields, region: Region) -> Vec<Part> {
    let is_named = matches!(fields.month, Some(Field::Name(_)));
    let pads = region == Region::Britain
        && !is_named
        && fields.month.is_some()
        && (fields.day.is_some() || fields.year.is_some());
    let widened = |field: Field| if pads && field == Field::Numeric { Field::TwoDigit } else { field };
    let (era_year, era) = if moment.year > 0 { (moment.year, "AD") } else { (1 - moment.year, "BC") };
    let year = fields.year.map(|field| ("year", padded(era_year, field)));
    let month = fields.month.map(|field| {
        let text = match field {
            Field::Name(width) => name(MONTHS[(moment.month as usize - 1).min(11)], width, region),
            field => padded(moment.month.into(), widened(field)),
        };
        ("month", text)
    });
    let day = fields.day.map(|field| ("day", padded(moment.day.into(), widened(field))));
    let weekday =
        fields.weekday.map(|width| ("weekday", name(WEEKDAYS[moment.weekday.min(6)], width, Region::UnitedStates)));
    let is_iso = region == Region::Canada && !is_named && fields.month.is_some() && fields.year.is_some();
    let (order, between): ([Option<Part>; 3], &str) = match region {
        _ if is_iso => {
            let two = |field: Option<Part>| field.map(|(kind, text)| (kind, format!("{text:0>2}")));
            ([year, two(month), two(day)], "-")
        }
        Region::Britain => ([day, month, year], if is_named { " " } else { "/" }),
        _ if is_named => ([month, day, year], " "),
        _ => ([month, day, year], "/"),
    };
    let mut parts: Vec<Part> = Vec::new();
    let mut previous = "";
    for (kind, text) in order.into_iter().flatten() {
        if !parts.is_empty() {
            let is_after_day = is_named && previous == "day" && kind == "year" && region != Region::Britain;
            parts.push(("literal", if is_after_day { ", ".to_owned() } else { between.to_owned() }));
        }
        previous = kind;
        parts.push((kind, text));
    }
    if fields.has_era && !parts.is_empty() {
        parts.push(("literal", " ".to_owned()));
        parts.push(("era", era.to_owned()));
    }
    let Some(weekday) = weekday else { return parts };
    if parts.is_empty() {
        return vec![weekday];
    }
    let is_day_alone = fields.month.is_none() && fields.year.is_none();
    if is_day_alone && region == Region::UnitedStates {
        parts.push(("literal", " ".to_owned()));
        parts.push(weekday);
        return parts;
    }
    // Britain writes a short date without a comma: Tue 2 Jan.
    let is_short = region == Region::Britain && (is_day_alone || (is_named && fields.year.is_none()));
    let comma = if is_short { " " } else { ", " };
    [weekday, ("literal", comma.to_owned())].into_iter().chain(parts).collect()
}

fn time(moment: &Moment, fields: &Fields, hours: Hours, region: Region) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut push = |kind: &'static str, text: String, before: &str| {
        if !parts.is_empty() {
            parts.push(("literal", before.to_owned()));
        }
        parts.push((kind, text));
    };
    if let Some(field) = fields.hour {
        let hour = i64::from(moment.hour);
        let text = match hours {
            Hours::Twelve { from_zero: true } => padded(hour % 12, field),
            Hours::Twelve { from_zero: false } => padded((hour + 11) % 12 + 1, field),
            Hours::TwentyFour { from_one: true } => padded((hour + 23) % 24 + 1, Field::TwoDigit),
            Hours::TwentyFour { from_one: false } => padded(hour, Field::TwoDigit),
        };
        push("hour", text, "");
    }
    if let Some(field) = fields.minute {
        let is_alone = fields.hour.is_none() && fields.second.is_none();
        push("minute", padded(moment.minute.into(), if is_alone { alone(field) } else { Field::TwoDigit }), ":");
    }
    if let Some(field) = fields.second {
        let is_alone = fields.minute.is_none();
        push("second", padded(moment.second.into(), if is_alone { alone(field) } else { Field::TwoDigit }), ":");
    }
    if fields.fraction > 0 {
        let text: String = format!("{:03}", moment.millisecond).chars().take(fields.fraction).collect();
        push("fractionalSecond", text, ".");
    }
    if fields.hour.is_some() && matches!(hours, Hours::Twelve { .. }) {
        let (text, space) = match (region, moment.hour < 12) {
            (Region::UnitedStates, true) => ("AM", " "),
            (Region::UnitedStates, false) => ("PM", " "),
            (Region::Canada, true) => ("a.m.", " "),
            (Region::Canada, false) => ("p.m.", " "),
            (Region::Britain, true) => ("am", " "),
            (Region::Britain, false) => ("pm", " "),
        };
        push("dayPeriod", text.to_owned(), space);
    }
    parts
}

/// A minute or a second by itself is written without a zero before it.
fn alone(_: Field) -> Field {
    Field::Numeric
}
