//! Times of day: `hours = "mon-fri 09:00-18:00"`.

use std::{fmt, str::FromStr};

const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const DAY_MINUTES: u16 = 24 * 60;

/// A moment of the week in the owner's time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalTime {
    /// The day, from 0 for Monday to 6.
    day: u8,
    minute: u16,
}

impl LocalTime {
    /// A time on a day of the week, counted from 0 for Monday. `None` if it does not exist.
    pub fn new(day: u8, hour: u8, minute: u8) -> Option<Self> {
        let is_time = day < 7 && hour < 24 && minute < 60;
        is_time.then(|| Self { day, minute: u16::from(hour) * 60 + u16::from(minute) })
    }
}

impl FromStr for LocalTime {
    type Err = ();

    /// Reads `mon 10:30`.
    fn from_str(text: &str) -> Result<Self, ()> {
        let (day, time) = text.trim().split_once(' ').ok_or(())?;
        let minute = minute(time).filter(|minute| *minute < DAY_MINUTES).ok_or(())?;
        Ok(Self { day: number(day).ok_or(())?, minute })
    }
}

impl fmt::Display for LocalTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let day = DAYS.get(usize::from(self.day)).copied().unwrap_or_default();
        write!(formatter, "{day} {:02}:{:02}", self.minute / 60, self.minute % 60)
    }
}

/// Some hours of some days.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hours {
    written: String,
    days: [bool; 7],
    from: u16,
    /// If it is not later than `from`, it is on the next day.
    to: u16,
}

impl Hours {
    /// Whether this moment is within them.
    pub(crate) fn contain(&self, at: LocalTime) -> bool {
        let is_on = |day: u8| self.days.get(usize::from(day)).copied().unwrap_or_default();
        let (today, yesterday) = (is_on(at.day), is_on((at.day + 6) % 7));
        if self.from < self.to {
            today && (self.from..self.to).contains(&at.minute)
        } else {
            (today && at.minute >= self.from) || (yesterday && at.minute < self.to)
        }
    }
}

impl fmt::Display for Hours {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.written)
    }
}

impl FromStr for Hours {
    type Err = ();

    /// Reads `mon-fri 09:00-18:00`, or one of the two alone.
    fn from_str(text: &str) -> Result<Self, ()> {
        let parts: Vec<&str> = text.split_whitespace().collect();
        let is_times = |part: &str| part.starts_with(|first: char| first.is_ascii_digit());
        let (days, times) = match *parts.as_slice() {
            [times] if is_times(times) => (None, Some(times)),
            [days] => (Some(days), None),
            [days, times] => (Some(days), Some(times)),
            _ => return Err(()),
        };
        let (from, to) = match times {
            Some(times) => {
                let (from, to) = times.split_once('-').ok_or(())?;
                (minute(from).ok_or(())?, minute(to).ok_or(())?)
            }
            None => (0, DAY_MINUTES),
        };
        if from == to || from == DAY_MINUTES {
            return Err(());
        }
        let mut on = [days.is_none(); 7];
        for range in days.into_iter().flat_map(|days| days.split(',')) {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (mut day, last) = (number(first).ok_or(())?, number(last).ok_or(())?);
            loop {
                if let Some(on) = on.get_mut(usize::from(day)) {
                    *on = true;
                }
                if day == last {
                    break;
                }
                day = (day + 1) % 7;
            }
        }
        Ok(Self { written: parts.join(" "), days: on, from, to })
    }
}

fn number(day: &str) -> Option<u8> {
    DAYS.iter().position(|known| *known == day).and_then(|at| u8::try_from(at).ok())
}

/// The minute of the day for a time such as `09:30`; `24:00` is the end of the day.
fn minute(time: &str) -> Option<u16> {
    let (hour, minute) = time.split_once(':')?;
    let two = |digits: &str| {
        let is_number = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_digit());
        is_number.then(|| digits.parse::<u16>().ok()).flatten()
    };
    let (hour, minute) = (two(hour)?, two(minute)?);
    (minute < 60 && hour * 60 + minute <= DAY_MINUTES).then_some(hour * 60 + minute)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_are_of_the_days_on_which_they_begin() {
        for (hours, at, expected) in [
            ("mon-fri 09:00-18:00", "mon 09:00", true),
            ("mon-fri 09:00-18:00", "fri 17:59", true),
            ("mon-fri 09:00-18:00", "fri 18:00", false),
            ("mon-fri 09:00-18:00", "sat 12:00", false),
            ("22:00-06:00", "sun 23:00", true),
            ("22:00-06:00", "mon 05:59", true),
            ("22:00-06:00", "mon 06:00", false),
            ("fri 22:00-06:00", "sat 05:00", true),
            ("fri 22:00-06:00", "fri 05:00", false),
            ("sun 22:00-06:00", "mon 05:00", true),
            ("sat-mon", "sun 00:00", true),
            ("sat-mon", "tue 00:00", false),
            ("tue,thu", "thu 23:59", true),
            ("tue,thu", "wed 12:00", false),
            ("18:00-24:00", "wed 23:59", true),
            ("18:00-24:00", "wed 00:00", false),
        ] {
            let (hours, at): (Hours, LocalTime) = (hours.parse().expect(hours), at.parse().expect(at));
            assert_eq!(hours.contain(at), expected, "{hours} {at}");
        }
        for bad in [
            "",
            "mo",
            "mon 9:00-10:00",
            "09:00",
            "09:00-09:00",
            "24:00-06:00",
            "25:00-26:00",
            "09:60-10:00",
            "mon - fri",
            "Mon",
            "mon fri 09:00-10:00 x",
            "+9:00-10:00",
        ] {
            assert!(bad.parse::<Hours>().is_err(), "{bad}");
        }
        assert_eq!(LocalTime::new(7, 0, 0), None);
        assert_eq!(LocalTime::new(0, 10, 30), "mon 10:30".parse().ok());
    }
}
