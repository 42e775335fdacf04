//! What is known of each locale. The numbers are places in lists of patterns and names, which are
//! in `table.rs`.

/// How a locale writes. The numbers are places in `PATTERNS` and `NAMES`.
pub(super) struct Data {
    pub(super) tag: &'static str,
    /// By era, weekday, year, month and day, as `Fields::date_place` counts them.
    pub(super) dates: [u16; 432],
    /// What stands between each of these and a time.
    pub(super) joints: [u16; 432],
    /// By hours, zone, period, fraction, hour, minute and second, as `Fields::time_place` counts
    /// them.
    pub(super) times: [u16; 432],
    /// The same with a weekday alone, long, short and narrow.
    pub(super) weekday_times: [u16; 1296],
    /// Full, long, medium, short.
    pub(super) date_styles: [u16; 4],
    /// Full to short before a time of twelve hours, and of twenty-four, with what stands between.
    pub(super) styled_dates: [u16; 8],
    /// Full to short with twelve hours, and with twenty-four.
    pub(super) time_styles: [u16; 8],
    /// Long, short, narrow.
    pub(super) eras: [u16; 3],
    /// Names of the parts of a day, long, short, narrow.
    pub(super) periods: [u16; 3],
    pub(super) is_twelve: bool,
    pub(super) offsets: Offsets,
    pub(super) numbers: Numbers,
}

/// How an offset from UTC is written.
pub(super) struct Offsets {
    pub(super) zero: &'static str,
    pub(super) prefix: &'static str,
    pub(super) minus: &'static str,
    pub(super) colon: &'static str,
}

/// The signs of numbers.
pub(super) struct Numbers {
    pub(super) decimal: &'static str,
    pub(super) group: &'static str,
    pub(super) money_decimal: &'static str,
    pub(super) money_group: &'static str,
    pub(super) minus: &'static str,
    pub(super) exponent: &'static str,
    /// Digits from which on they are grouped.
    pub(super) first_grouped: usize,
    /// Digits of each group but the last, which has three.
    pub(super) group_size: usize,
    pub(super) percent: &'static str,
    /// Amounts without, with a minus and with a plus; the same in accounting; all again for symbols
    /// that have a letter next to the number.
    pub(super) amounts: [&'static str; 12],
    /// Between the ends of a range.
    pub(super) range: &'static str,
    /// Before a range whose ends are written alike.
    pub(super) about: &'static str,
}
