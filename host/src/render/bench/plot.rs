//! Bars as inline SVG: lengths from zero, an axis with its unit, and the figure at the end of each
//! bar.
//!
//! Written by hand, since nothing more is needed: colours are classes of the page's own style, so
//! that they follow the reader's choice of light or dark, and texts stay texts.

use std::fmt::Write as _;

use super::{
    html::escaped,
    sections::{Bar, Plot},
};

const WIDTH: f64 = 560.0;
/// Between the longest bar and the edge: room for its figure.
const RIGHT: f64 = 84.0;
/// The maximum width of a character of a label.
const CHARACTER: f64 = 6.7;
const MOST_LABEL: f64 = 262.0;
/// Room for the unit, left of the axis.
const LEAST_LABEL: f64 = 104.0;
const GROUP_GAP: f64 = 12.0;
const BAR_GAP: f64 = 3.0;
const LEGEND: f64 = 26.0;
const AXIS: f64 = 22.0;
/// Below the axis: the label of the reference line.
const LINE: f64 = 18.0;
/// Steps of the axis, at most.
const STEPS: f64 = 5.0;

/// The plot, with a title for screen readers.
pub(super) fn svg(title: &str, plot: &Plot) -> String {
    let bar_height = if plot.series.len() > 1 { 13.0 } else { 22.0 };
    let longest = plot.groups.iter().map(|group| group.label.chars().count()).max().unwrap_or(0);
    let left =
        (f64::from(u32::try_from(longest).unwrap_or(u32::MAX)) * CHARACTER + 14.0).clamp(LEAST_LABEL, MOST_LABEL);
    let top = if plot.series.len() > 1 { LEGEND } else { 8.0 };
    let most = plot.groups.iter().flat_map(|group| &group.bars).map(|bar| bar.value);
    let most = most.chain(plot.line.map(|(value, _)| value)).fold(0.0, f64::max);
    let scale = Scale::up_to(most, left, WIDTH - RIGHT);

    let mut bars = String::new();
    let mut y = top;
    for group in &plot.groups {
        let count = f64::from(u32::try_from(group.bars.len()).unwrap_or(u32::MAX));
        let height = (count * (bar_height + BAR_GAP) - BAR_GAP).max(bar_height);
        let (x, middle) = (left - 8.0, y + height / 2.0 + 4.0);
        let label = shortened(&group.label, left);
        let _ = write!(bars, r#"<text class="label" x="{x:.1}" y="{middle:.1}">{}</text>"#, escaped(&label));
        for (at, bar) in group.bars.iter().enumerate() {
            let y = y + f64::from(u32::try_from(at).unwrap_or(u32::MAX)) * (bar_height + BAR_GAP);
            write_bar(&mut bars, bar, &group.label, plot, &scale, y, bar_height);
        }
        y += height + GROUP_GAP;
    }
    let bottom = y - GROUP_GAP + 8.0;
    let height = bottom + AXIS + if plot.line.is_some() { LINE } else { 0.0 };
    let name = escaped(title);
    let mut svg = format!(
        r#"<svg viewBox="0 0 {WIDTH} {height:.0}" width="{WIDTH}" height="{height:.0}" role="img" aria-label="{name}: the table beside it has the same figures">"#
    );
    write_axis(&mut svg, &scale, top, bottom, plot.unit);
    svg.push_str(&bars);
    if let Some((value, what)) = plot.line {
        let x = scale.x(value);
        let _ = write!(
            svg,
            r#"<line class="mark" x1="{x:.1}" y1="{:.1}" x2="{x:.1}" y2="{bottom:.1}"/><text class="mark" x="{:.1}" y="{:.1}">{what}</text>"#,
            top - 6.0,
            x,
            bottom + 33.0,
        );
    }
    if plot.series.len() > 1 {
        write_legend(&mut svg, &plot.series, left);
    }
    svg + "</svg>"
}

fn write_bar(svg: &mut String, bar: &Bar, label: &str, plot: &Plot, scale: &Scale, y: f64, height: f64) {
    let width = (scale.x(bar.value) - scale.left).max(1.0);
    let class = if bar.is_measured { format!("bar s{}", bar.series + 1) } else { "bar computed".to_owned() };
    let series = plot.series.get(bar.series).filter(|_| plot.series.len() > 1);
    let series = series.map(|series| format!(", {series}")).unwrap_or_default();
    let shown = escaped(&bar.shown);
    let _ = write!(
        svg,
        r#"<rect class="{class}" x="{:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="2"><title>{}{series}: {shown}</title></rect>"#,
        scale.left,
        escaped(label),
    );
    let (x, middle) = (scale.left + width + 6.0, y + height / 2.0 + 4.0);
    let _ = write!(svg, r#"<text class="value" x="{x:.1}" y="{middle:.1}">{shown}</text>"#);
}

fn write_axis(svg: &mut String, scale: &Scale, top: f64, bottom: f64, unit: &str) {
    for tick in scale.ticks() {
        let (x, class) = (scale.x(tick), if tick == 0.0 { "zero" } else { "grid" });
        let _ = write!(
            svg,
            r#"<line class="{class}" x1="{x:.1}" y1="{:.1}" x2="{x:.1}" y2="{bottom:.1}"/><text class="tick" x="{x:.1}" y="{:.1}">{}</text>"#,
            top - 6.0,
            bottom + 15.0,
            scale.shown(tick),
        );
    }
    let (x, y) = (scale.left - 18.0, bottom + 15.0);
    let _ = write!(svg, r#"<text class="unit" x="{x:.1}" y="{y:.1}">{unit}</text>"#);
}

fn write_legend(svg: &mut String, series: &[&str], left: f64) {
    let mut x = left;
    for (at, name) in series.iter().enumerate() {
        let _ = write!(
            svg,
            r#"<rect class="key s{}" x="{x:.1}" y="2" width="10" height="10" rx="2"/><text class="key" x="{:.1}" y="11">{name}</text>"#,
            at + 1,
            x + 15.0,
        );
        x += 15.0 + f64::from(u32::try_from(name.chars().count()).unwrap_or(u32::MAX)) * CHARACTER + 16.0;
    }
}

/// The position of a value.
struct Scale {
    step: f64,
    steps: u32,
    left: f64,
    right: f64,
}

impl Scale {
    /// A scale in round steps from zero to the largest value or slightly above it.
    fn up_to(most: f64, left: f64, right: f64) -> Self {
        let most = if most.is_finite() && most > 0.0 { most } else { 1.0 };
        let magnitude = 10.0_f64.powf((most / STEPS).log10().floor());
        let round = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * magnitude);
        let step = round.into_iter().find(|step| most / step <= STEPS).unwrap_or(most);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a few steps")]
        let steps = ((most / step - 1e-9).ceil() as u32).max(1);
        Self { step, steps, left, right }
    }

    fn x(&self, value: f64) -> f64 {
        let most = self.step * f64::from(self.steps);
        self.left + (self.right - self.left) * (value / most).clamp(0.0, 1.0)
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        (0..=self.steps).map(|step| f64::from(step) * self.step)
    }

    /// A tick with as many places as the steps need.
    fn shown(&self, tick: f64) -> String {
        let places = (0..6).find(|places| {
            let scaled = self.step * 10.0_f64.powi(*places);
            (scaled - scaled.round()).abs() < 1e-6
        });
        match usize::try_from(places.unwrap_or(6)) {
            Ok(places @ 1..) => format!("{tick:.places$}"),
            _ => super::figure::whole(tick),
        }
    }
}

fn shortened(label: &str, left: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a width on the page, in characters")]
    let room = ((left - 14.0) / CHARACTER).max(1.0).round() as usize;
    if label.chars().count() <= room {
        return label.to_owned();
    }
    label.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(most: f64) -> Vec<String> {
        let scale = Scale::up_to(most, 0.0, 100.0);
        scale.ticks().map(|tick| scale.shown(tick)).collect()
    }

    #[test]
    fn an_axis_begins_at_zero_has_few_round_steps_and_room_for_the_largest() {
        assert_eq!(ticks(33.1), ["0", "10", "20", "30", "40"]);
        assert_eq!(ticks(1.07), ["0.00", "0.25", "0.50", "0.75", "1.00", "1.25"]);
        assert_eq!(ticks(50_000.0), ["0", "10,000", "20,000", "30,000", "40,000", "50,000"]);
        assert_eq!(ticks(0.0).first().map(String::as_str), Some("0.0"));
        for most in [1e-3, 0.7, 3.0, 9.99, 10.0, 10.01, 99.0, 123_456.0, f64::NAN, f64::INFINITY] {
            let scale = Scale::up_to(most, 10.0, 110.0);
            assert!((1..=6).contains(&scale.steps), "{most}: {} steps", scale.steps);
            assert!(!most.is_finite() || scale.step * f64::from(scale.steps) >= most * (1.0 - 1e-6), "{most}");
            assert_eq!((scale.x(0.0), scale.x(f64::MAX)), (10.0, 110.0));
        }
    }

    #[test]
    fn a_bar_is_as_long_as_its_value_and_a_name_cannot_write_markup() {
        let plot = Plot {
            unit: "ms",
            series: vec!["ms"],
            groups: [("<a>", 10.0), ("b", 5.0)]
                .map(|(label, value)| super::super::sections::Group {
                    label: label.to_owned(),
                    bars: vec![Bar { series: 0, value, shown: "&".to_owned(), is_measured: true }],
                })
                .into(),
            line: None,
        };
        let svg = svg("\"x\"", &plot);
        assert!(!svg.contains("<a>") && svg.contains("&lt;a&gt;") && svg.contains("&quot;x&quot;"), "{svg}");
        let widths: Vec<f64> = svg
            .split("<rect class=\"bar")
            .skip(1)
            .filter_map(|bar| bar.split_once("width=\"")?.1.split_once('"')?.0.parse().ok())
            .collect();
        assert!(matches!(widths[..], [one, half] if (one - 2.0 * half).abs() < 0.2), "{widths:?}");
    }
}
