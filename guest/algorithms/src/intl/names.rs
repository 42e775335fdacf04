//! What languages, regions, scripts, currencies, calendars and the fields of a date are called.

use super::{
    locale::Locale,
    names_table::{
        CALENDARS, COMMAS, CURRENCIES, DIALECTS, FIELDS, LANGUAGE_ALIASES, LANGUAGES, REGION_ALIASES, REGIONS,
        SCRIPT_ALIASES, SCRIPTS,
    },
};

/// The names of one type, in all locales.
pub struct Names {
    /// In order.
    pub codes: &'static [&'static str],
    /// For each locale the places of its lists: long, short, narrow.
    pub of_locales: &'static [[u16; 3]],
    pub lists: &'static [List],
}

/// Names, divided by `|`; an empty one where a locale has none.
pub struct List {
    /// Another list, of which this one has what differs.
    pub base: Option<u16>,
    /// Which codes differ from it.
    pub places: &'static [u16],
    pub names: &'static str,
}

impl Names {
    fn of(&self, code: &str, style: Style, locale: &Locale) -> Option<&'static str> {
        let place = self.codes.binary_search(&code).ok()?;
        let mut list = self.lists.get(usize::from(*self.of_locales.get(locale.place)?.get(style as usize)?))?;
        // A list stands behind its base, so this ends.
        while let Some(base) = list.base {
            if let Ok(found) = list.places.binary_search(&u16::try_from(place).ok()?) {
                return list.at(found);
            }
            list = self.lists.get(usize::from(base))?;
        }
        list.at(place)
    }
}

impl List {
    fn at(&self, place: usize) -> Option<&'static str> {
        self.names.split('|').nth(place).filter(|name| !name.is_empty())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Long,
    Short,
    Narrow,
}

/// What is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Language,
    Region,
    Script,
    Currency,
    Calendar,
    DateTimeField,
}

/// How names are asked for.
#[derive(Debug, Clone)]
pub struct DisplayNames {
    pub locale: Locale,
    pub kind: Kind,
    pub style: Style,
    /// Whether a code that has no name stands for itself.
    pub is_code_fallback: bool,
    /// Whether a language of a region may have a name of its own: `American English`.
    pub has_dialects: bool,
}

impl DisplayNames {
    /// The name of a code, if there is one.
    ///
    /// # Errors
    /// It is not a code of this kind, and how one is written.
    pub fn of(&self, code: &str) -> Result<Option<String>, String> {
        let (names, is_code, example): (_, fn(&str) -> bool, _) = match self.kind {
            Kind::Language => return self.language(code),
            Kind::Region => (&REGIONS, is_region, "a region is two letters or three digits, as in 'SE'"),
            Kind::Script => (&SCRIPTS, is_script, "a script is four letters, as in 'Latn'"),
            Kind::Currency => (&CURRENCIES, |code| is_letters(code, 3), "a currency is three letters, as in 'USD'"),
            Kind::Calendar => (&CALENDARS, is_calendar, "a calendar is written as in 'gregory'"),
            Kind::DateTimeField => {
                (&FIELDS, |code| FIELDS.codes.contains(&code), "a field of a date is one as 'month' or 'weekOfYear'")
            }
        };
        if !is_code(code) {
            return Err(wrong(code, example));
        }
        let upper = code.to_ascii_uppercase();
        let name = names.of(if self.kind == Kind::Currency { &upper } else { code }, self.style, &self.locale);
        Ok(name.map(ToOwned::to_owned).or_else(|| self.fallback(code)))
    }

    fn fallback(&self, code: &str) -> Option<String> {
        self.is_code_fallback.then(|| code.to_owned())
    }

    /// `Spanish`, `Latin American Spanish`, `Serbian (Latin, Serbia)`
    fn language(&self, tag: &str) -> Result<Option<String>, String> {
        const EXAMPLE: &str = "a language is written as in 'sv' or 'sr-Latn-RS'";
        let tag = super::locale::canonical(tag).map_err(|_| wrong(tag, EXAMPLE))?;
        // What follows one letter says how the language is used.
        let mut parts = tag.split('-').take_while(|part| part.len() > 1).peekable();
        let language = match parts.next() {
            Some("und") => "root",
            Some(language) => language,
            None => return Err(wrong(&tag, EXAMPLE)),
        };
        let script = parts.next_if(|part| is_script(part));
        let region = parts.next_if(|part| is_region(part));
        if parts.next().is_some() {
            return Err(wrong(&tag, "a language, a script and a region have names, and no more"));
        }
        // An old code stands for a language, and maybe a script or region where none is given.
        let mut meant = found(&LANGUAGE_ALIASES, language).unwrap_or(language).split('-');
        let language = meant.next().unwrap_or(language);
        let (mut usual_script, mut usual_region) = (None, None);
        for part in meant {
            *(if is_script(part) { &mut usual_script } else { &mut usual_region }) = Some(part);
        }
        let script = script.map(|script| found(&SCRIPT_ALIASES, script).unwrap_or(script)).or(usual_script);
        let region = region.map(|region| found(&REGION_ALIASES, region).unwrap_or(region)).or(usual_region);
        let whole = [Some(language), script, region].into_iter().flatten().collect::<Vec<_>>().join("-");
        let find = |names: &Names, code| names.of(code, self.style, &self.locale);
        if let Some(name) = find(&DIALECTS, &whole).filter(|_| self.has_dialects) {
            return Ok(Some(name.to_owned()));
        }
        let fallback =
            |name: Option<&'static str>, code: &str| name.map(ToOwned::to_owned).or_else(|| self.fallback(code));
        let Some(mut name) = fallback(find(&LANGUAGES, language), language) else { return Ok(None) };
        let mut details = Vec::new();
        if let Some(script) = script {
            details.push((find(&SCRIPTS, script), script));
        }
        if let Some(region) = region {
            let style = if self.style == Style::Long { Style::Long } else { Style::Short };
            details.push((REGIONS.of(region, style, &self.locale), region));
        }
        let details: Option<Vec<String>> = details.into_iter().map(|(name, code)| fallback(name, code)).collect();
        let Some(details) = details else { return Ok(None) };
        if !details.is_empty() {
            let comma = COMMAS.get(self.locale.place).unwrap_or(&", ");
            name.push_str(&format!(" ({})", in_brackets(&details.join(comma))));
        }
        Ok(Some(name))
    }
}

/// What stands within parentheses has brackets for its own.
fn in_brackets(text: &str) -> String {
    text.replace('(', "[").replace(')', "]").replace('（', "［").replace('）', "］")
}

fn found(aliases: &[(&'static str, &'static str)], code: &str) -> Option<&'static str> {
    aliases
        .binary_search_by(|(alias, _)| (*alias).cmp(code))
        .ok()
        .and_then(|place| aliases.get(place))
        .map(|alias| alias.1)
}

fn is_letters(code: &str, count: usize) -> bool {
    code.len() == count && code.bytes().all(|byte| byte.is_ascii_alphabetic())
}

fn is_region(code: &str) -> bool {
    is_letters(code, 2) || (code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_script(code: &str) -> bool {
    is_letters(code, 4)
}

fn is_calendar(code: &str) -> bool {
    let is_part = |part: &str| (3..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    code.len() <= 100 && code.split('-').all(is_part)
}

fn wrong(code: &str, example: &str) -> String {
    format!("'{}' has no name: {example}", cut(code))
}

fn cut(code: &str) -> String {
    code.chars().take(40).collect()
}
