//! Dates by patterns: `{L1} {d}, {y}` is a month by its name, a day and a year. Which pattern it
//! is, the locale's table says.

use super::{Part, locales, writing::Data};

/// How a name is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    Long,
    Short,
    Narrow,
}

impl Width {
    fn place(self) -> usize {
        match self {
            Self::Long => 0,
            Self::Short => 1,
            Self::Narrow => 2,
        }
    }
}

/// How a number is written, or a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    Numeric,
    TwoDigit,
    Name(Width),
}

impl Field {
    /// As the tables count: nothing, a number, two digits, the three names.
    fn place(field: Option<Self>) -> usize {
        match field {
            None => 0,
            Some(Self::Numeric) => 1,
            Some(Self::TwoDigit) => 2,
            Some(Self::Name(width)) => 3 + width.place(),
        }
    }
}

/// What is shown of a date and of a time of day.
#[derive(Debug, Clone, Default)]
pub struct Fields {
    pub weekday: Option<Width>,
    pub era: Option<Width>,
    pub year: Option<Field>,
    pub month: Option<Field>,
    pub day: Option<Field>,
    pub period: Option<Width>,
    pub hour: Option<Field>,
    pub minute: Option<Field>,
    pub second: Option<Field>,
    pub fraction: usize,
    /// The word of `timeZoneName`.
    pub zone: Option<&'static str>,
}

impl Fields {
    pub fn has_date(&self) -> bool {
        self.weekday.is_some() || self.year.is_some() || self.month.is_some() || self.day.is_some()
    }

    pub fn has_time(&self) -> bool {
        self.period.is_some()
            || self.hour.is_some()
            || self.minute.is_some()
            || self.second.is_some()
            || self.fraction > 0
    }

    fn date_place(&self) -> usize {
        let weekday = self.weekday.map_or(0, |width| 1 + width.place());
        let place = usize::from(self.era.is_some()) * 4 + weekday;
        ((place * 3 + Field::place(self.year)) * 6 + Field::place(self.month)) * 3 + Field::place(self.day)
    }

    fn time_place(&self, hours: Hours) -> usize {
        let is_twenty_four = matches!(hours, Hours::TwentyFour { .. });
        let place = usize::from(is_twenty_four) * 2 + usize::from(self.zone.is_some());
        let place = (place * 2 + usize::from(self.period.is_some())) * 2 + usize::from(self.fraction > 0);
        ((place * 3 + Field::place(self.hour)) * 3 + Field::place(self.minute)) * 3 + Field::place(self.second)
    }
}

/// What is shown where a style is asked for: full, long, medium, short, as 0 to 3.
#[derive(Debug, Clone, Copy, Default)]
pub struct Styles {
    pub date: Option<usize>,
    pub time: Option<usize>,
}

/// How hours are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hours {
    /// 1 to 12, or 0 to 11.
    Twelve { from_zero: bool },
    /// 0 to 23, or 1 to 24.
    TwentyFour { from_one: bool },
}

/// A point in time, as a calendar and a clock show it.
pub struct Moment {
    pub year: i64,
    pub month: u32,
    pub day: u32,
    /// 0 is Sunday.
    pub weekday: usize,
    pub hour: u32,
    pub minute: u32,
    pub second: u32,
    pub millisecond: u32,
    pub zone_name: String,
}

/// A moment as text in pieces.
pub fn written(moment: &Moment, fields: &Fields, styles: Styles, hours: Hours, data: &Data) -> Vec<Part> {
    let at = |table: &[u16], place: usize| table.get(place).map_or("", |place| locales::pattern(*place));
    let mut parts = Vec::new();
    let mut add = |pattern: &str| filled(pattern, moment, fields, hours, data, &mut parts);
    let of_hours = |style: usize| if matches!(hours, Hours::Twelve { .. }) { style } else { 4 + style };
    let is_timed = fields.has_time() || fields.zone.is_some();
    match (styles.date, styles.time) {
        (Some(date), Some(time)) => {
            add(at(&data.styled_dates, of_hours(date)));
            add(at(&data.time_styles, of_hours(time)));
        }
        (Some(date), None) => add(at(&data.date_styles, date)),
        (None, Some(time)) => add(at(&data.time_styles, of_hours(time))),
        (None, None) => {
            let is_weekday_alone = fields.year.is_none() && fields.month.is_none() && fields.day.is_none();
            match fields.weekday {
                Some(weekday) if is_weekday_alone && is_timed => {
                    add(at(&data.weekday_times, weekday.place() * data.times.len() + fields.time_place(hours)));
                }
                _ => {
                    if fields.has_date() {
                        add(at(&data.dates, fields.date_place()));
                    }
                    if fields.has_date() && is_timed {
                        add(at(&data.joints, fields.date_place()));
                    }
                    if is_timed {
                        add(at(&data.times, fields.time_place(hours)));
                    }
                }
            }
        }
    }
    parts
}

/// Fills a pattern in.
fn filled(pattern: &str, moment: &Moment, fields: &Fields, hours: Hours, data: &Data, parts: &mut Vec<Part>) {
    let mut rest = pattern;
    while !rest.is_empty() {
        let (literal, field) = rest.split_once('{').unwrap_or((rest, ""));
        if !literal.is_empty() {
            let literal = plain_spaces(literal);
            match parts.last_mut() {
                // One literal, though it comes from a date and from what stands behind it.
                Some(("literal", last)) => last.push_str(&literal),
                _ => parts.push(("literal", literal)),
            }
        }
        let (field, behind) = field.split_once('}').unwrap_or((field, ""));
        if !field.is_empty() {
            parts.push(field_text(field, moment, fields, hours, data));
        }
        rest = behind;
    }
}

/// Narrow spaces as common ones, as V8 writes them in dates, since programs look for those.
fn plain_spaces(text: &str) -> String {
    text.replace('\u{202f}', " ")
}

fn field_text(field: &str, moment: &Moment, fields: &Fields, hours: Hours, data: &Data) -> Part {
    let (letter, list) = field.split_at(1);
    let is_two = list == letter;
    let number = |number: i64| if is_two { format!("{:02}", number.rem_euclid(100)) } else { number.to_string() };
    let named = |index: usize| locales::name(list.parse().unwrap_or(0), index).to_owned();
    let wide = |lists: &[u16; 3], width: Option<Width>, index: usize| {
        let list = lists.get(width.unwrap_or(Width::Short).place()).copied().unwrap_or(0);
        locales::name(usize::from(list), index).to_owned()
    };
    let hour = i64::from(moment.hour);
    match letter {
        "y" => ("year", number(if moment.year > 0 { moment.year } else { 1 - moment.year })),
        "M" => ("month", number(moment.month.into())),
        "L" => ("month", named(moment.month.saturating_sub(1) as usize)),
        "d" => ("day", number(moment.day.into())),
        "E" => ("weekday", named(moment.weekday)),
        "G" => ("era", wide(&data.eras, fields.era, usize::from(moment.year > 0))),
        "h" => (
            "hour",
            number(match hours {
                Hours::Twelve { from_zero: true } => hour % 12,
                Hours::Twelve { from_zero: false } => (hour + 11) % 12 + 1,
                Hours::TwentyFour { from_one: true } => (hour + 23) % 24 + 1,
                Hours::TwentyFour { from_one: false } => hour,
            }),
        ),
        "m" => ("minute", number(moment.minute.into())),
        "s" => ("second", number(moment.second.into())),
        "f" => ("fractionalSecond", format!("{:03}", moment.millisecond).chars().take(fields.fraction).collect()),
        "a" => ("dayPeriod", plain_spaces(&named(moment.hour as usize))),
        "B" => ("dayPeriod", plain_spaces(&wide(&data.periods, fields.period, moment.hour as usize))),
        _ => ("timeZoneName", moment.zone_name.clone()),
    }
}
