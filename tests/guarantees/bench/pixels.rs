//! Checks the page in a browser: takes a screenshot, and measures each plot's bars in it.

use std::{
    collections::BTreeMap,
    process::{Command, Stdio},
};

use zune_png::{PngDecoder, zune_core::bytestream::ZCursor};

/// The width of the screenshot, so that no plot is scaled down. It is higher than any page.
const WIDTH: usize = 1200;
const HEIGHT: usize = 6000;
/// From the screenshot's edge to the inside of a section, left of its contents: half of the page
/// body's free width, the body's own padding, and some pixels of the section's.
const INSIDE: usize = (WIDTH - 1120) / 2 + 24 + 12;

/// The reader's colour scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    Light,
    Dark,
}

type Colour = [u8; 3];

/// A screenshot.
pub(super) struct Shot {
    pixels: Vec<u8>,
    width: usize,
    height: usize,
}

impl Shot {
    fn at(&self, x: usize, y: usize) -> Colour {
        let from = (y * self.width + x) * 3;
        self.pixels[from..from + 3].try_into().unwrap()
    }

    /// How many pixels of these lines have a colour.
    fn count(&self, lines: &std::ops::Range<usize>, colour: Colour) -> f64 {
        let count: usize = lines.clone().map(|y| (0..self.width).filter(|x| self.at(*x, y) == colour).count()).sum();
        count as f64
    }

    /// The longest row of pixels with this colour in a line.
    fn longest(&self, y: usize, colour: Colour) -> usize {
        let (mut longest, mut row) = (0, 0);
        for x in 0..self.width {
            row = if self.at(x, y) == colour { row + 1 } else { 0 };
            longest = longest.max(row);
        }
        longest
    }

    /// Runs of consecutive lines in which the pixel at `x` matches, as first and last line.
    fn stretches(&self, is_so: impl Fn(usize) -> bool) -> Vec<std::ops::Range<usize>> {
        let mut stretches: Vec<std::ops::Range<usize>> = Vec::new();
        for y in (0..self.height).filter(|y| is_so(*y)) {
            match stretches.last_mut() {
                Some(last) if last.end == y => last.end += 1,
                _ => stretches.push(y..y + 1),
            }
        }
        stretches
    }
}

/// Takes a screenshot of a page.
pub(super) fn screenshot(page: &str, scheme: Scheme) -> Shot {
    let folder = tempfile::tempdir().unwrap();
    let (file, picture) = (folder.path().join("page.html"), folder.path().join("page.png"));
    std::fs::write(&file, page).unwrap();
    let preferred = if scheme == Scheme::Dark { 0 } else { 1 };
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1"])
        .arg(format!("--window-size={WIDTH},{HEIGHT}"))
        .arg(format!("--blink-settings=preferredColorScheme={preferred}"))
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("--screenshot={}", picture.display()))
        .arg(format!("file://{}", file.display()))
        .env("HOME", folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("chromium is missing: apt-get install chromium ({error})"));
    let bytes = std::fs::read(&picture)
        .unwrap_or_else(|_| panic!("chromium takes no picture: {}", String::from_utf8_lossy(&output.stderr)));
    let mut decoder = PngDecoder::new(ZCursor::new(bytes));
    let pixels = decoder.decode_raw().unwrap();
    let (width, height) = decoder.dimensions().unwrap();
    // Chromium writes three bytes for each pixel, or four, of which the last is its opacity.
    let bytes = pixels.len() / (width * height);
    assert_eq!((width, height), (WIDTH, HEIGHT));
    assert!(bytes == 3 || bytes == 4, "{bytes} bytes for each pixel");
    Shot { pixels: pixels.chunks(bytes).flat_map(|pixel| pixel[..3].to_vec()).collect(), width, height }
}

/// The lengths in pixels of each plot's bars of the first series, from top to bottom, by the plot's
/// title; or what is missing in the screenshot.
pub(super) fn marks(page: &str, shot: &Shot, scheme: Scheme) -> Result<BTreeMap<String, Vec<f64>>, String> {
    let card = colour(page, "--card", scheme);
    let sections: Vec<&str> = page.split("<section>").skip(1).collect();
    let mut places = shot.stretches(|y| shot.at(INSIDE, y) == card);
    places.retain(|lines| lines.len() > 60);
    if places.len() != sections.len() {
        return Err(format!("{} sections are to be seen of {}", places.len(), sections.len()));
    }
    let mut lengths = BTreeMap::new();
    for (section, lines) in sections.into_iter().zip(places) {
        let title = between(section, "<h2>", "</h2>").unwrap();
        let bars = bars(section);
        if bars.is_empty() {
            return Err(format!("{title} has no bars in the page itself"));
        }
        for class in ["s1", "s2", "s3", "computed"] {
            let of_class: Vec<&Bar> = bars.iter().filter(|bar| bar.class == class).collect();
            let key = if section.contains(&format!("class=\"key {class}\"")) { 100.0 } else { 0.0 };
            // Edges between two pixels have a mixed colour.
            let least: f64 = of_class.iter().map(|bar| (bar.width - 2.0).max(0.0) * (bar.height - 2.0)).sum();
            let most: f64 = of_class.iter().map(|bar| (bar.width + 1.0) * (bar.height + 1.0)).sum();
            let seen = shot.count(&lines, colour(page, &format!("--{class}"), scheme));
            if seen < least || seen > most + key {
                return Err(format!("{title} has {seen} pixels of {class}, and {least} to {most} are its bars"));
            }
        }
        let first = colour(page, "--s1", scheme);
        let seen = shot.stretches(|y| lines.contains(&y) && shot.longest(y, first) > 0);
        let longest = |lines: std::ops::Range<usize>| lines.map(|y| shot.longest(y, first)).max().unwrap_or(0);
        lengths.insert(title.to_owned(), seen.into_iter().map(|lines| longest(lines) as f64).collect());
    }
    Ok(lengths)
}

/// A bar in the page's markup.
struct Bar {
    class: String,
    width: f64,
    height: f64,
}

fn bars(section: &str) -> Vec<Bar> {
    let bar = |text: &str| {
        let number = |name: &str| between(text, &format!(" {name}=\""), "\"").unwrap().parse().unwrap();
        Bar { class: text.split_once('"').unwrap().0.to_owned(), width: number("width"), height: number("height") }
    };
    section.split("<rect class=\"bar ").skip(1).map(bar).collect()
}

/// A colour of the page's style: the first one set in light mode, the second one in dark mode.
fn colour(page: &str, name: &str, scheme: Scheme) -> Colour {
    let setting = format!("{name}: #");
    let mut set = page.split(&setting).skip(1);
    let hex = if scheme == Scheme::Dark { set.nth(1) } else { set.next() }.unwrap_or_else(|| panic!("no {name}"));
    [0, 2, 4].map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    text.split_once(before)?.1.split_once(after).map(|(between, _)| between)
}
