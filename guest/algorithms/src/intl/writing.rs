//! What is known of each locale. The numbers are places in lists of patterns and names, which are
//! in `table.rs`.

/// How a locale writes. The numbers are places in `PATTERNS` and `NAMES`.
pub struct Data {
    pub tag: &'static str,
    /// By era, weekday, year, month and day, as `Fields::date_place` counts them.
    pub dates: [u16; 432],
    /// What stands between each of these and a time.
    pub joints: [u16; 432],
    /// By hours, zone, period, fraction, hour, minute and second, as `Fields::time_place` counts
    /// them.
    pub times: [u16; 432],
    /// The same with a weekday alone, long, short and narrow.
    pub weekday_times: [u16; 1296],
    /// Full, long, medium, short.
    pub date_styles: [u16; 4],
    /// Full to short before a time of twelve hours, and of twenty-four, with what stands between.
    pub styled_dates: [u16; 8],
    /// Full to short with twelve hours, and with twenty-four.
    pub time_styles: [u16; 8],
    /// Long, short, narrow.
    pub eras: [u16; 3],
    /// Names of the parts of a day, long, short, narrow.
    pub periods: [u16; 3],
    pub is_twelve: bool,
    pub offsets: Offsets,
    pub numbers: Numbers,
}

/// How an offset from UTC is written.
pub struct Offsets {
    pub zero: &'static str,
    pub prefix: &'static str,
    pub minus: &'static str,
    pub colon: &'static str,
}

/// The signs of numbers.
pub struct Numbers {
    pub decimal: &'static str,
    pub group: &'static str,
    pub money_decimal: &'static str,
    pub money_group: &'static str,
    pub minus: &'static str,
    pub exponent: &'static str,
    /// Digits from which on they are grouped.
    pub first_grouped: usize,
    /// Digits of each group but the last, which has three.
    pub group_size: usize,
    pub percent: &'static str,
    /// Amounts without, with a minus and with a plus; the same in accounting; all again for symbols
    /// that have a letter next to the number.
    pub amounts: [&'static str; 12],
    /// Between the ends of a range.
    pub range: &'static str,
    /// Before a range whose ends are written alike.
    pub about: &'static str,
}
