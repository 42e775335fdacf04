//! Locales: their tags, and which there is data for.

use super::{locales, table::LOCALES, writing::Data};

/// The region whose customs are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Region {
    UnitedStates,
    Canada,
    /// Britain, and most of the English-speaking world with it.
    Britain,
}

/// The locale that a formatter works in.
#[derive(Debug, Clone)]
pub struct Locale {
    pub tag: String,
    /// Whose customs lists and units follow, which are in English alone.
    pub region: Region,
    /// In the table of all locales.
    pub place: usize,
}

impl Locale {
    /// The locale of a tag. One that is not in the table has the data of `en-US`.
    pub fn of_tag(tag: String) -> Self {
        let region = match tag.split('-').find(|part| part.len() == 2 && part.chars().all(|c| c.is_ascii_uppercase())) {
            None | Some("US" | "PR" | "PH" | "VI" | "GU") => Region::UnitedStates,
            Some("CA") => Region::Canada,
            Some(_) => Region::Britain,
        };
        let place = locales::find(&tag).unwrap_or(0);
        Self { tag, region, place }
    }

    /// How it writes.
    pub fn data(&self) -> &'static Data {
        // `place` is that of an element, or 0.
        LOCALES.get(self.place).unwrap_or(&LOCALES[0])
    }

    /// Whether it is one of English.
    pub fn is_english(&self) -> bool {
        is_english(&self.tag)
    }
}

/// Whether there is data for a locale.
pub fn is_known(tag: &str) -> bool {
    locales::find(tag).is_some()
}

/// Whether texts are ordered as the table of all languages has it.
pub fn has_common_order(tag: &str) -> bool {
    let language = tag.split('-').next().unwrap_or_default();
    matches!(language, "en" | "de" | "fr" | "it" | "nl" | "pt") && !tag.starts_with("fr-CA")
}

/// Whether a locale is one of English.
pub fn is_english(tag: &str) -> bool {
    tag == "en" || tag.starts_with("en-")
}

/// A tag in its usual case.
///
/// # Errors
/// It is not one, and why.
pub fn canonical(tag: &str) -> Result<String, String> {
    let is_valid = |(index, part): (usize, &str)| {
        let is_word = (1..=8).contains(&part.len()) && part.chars().all(|character| character.is_ascii_alphanumeric());
        is_word && (index > 0 || ((2..=8).contains(&part.len()) && part.chars().all(|c| c.is_ascii_alphabetic())))
    };
    if tag.len() > 100 || !tag.split('-').enumerate().all(is_valid) {
        let tag: String = tag.chars().take(40).collect();
        return Err(format!("'{tag}' is no locale: it is written as in 'en-US'"));
    }
    let mut is_extension = false;
    let parts = tag.split('-').enumerate().map(|(index, part)| {
        let lower = part.to_ascii_lowercase();
        is_extension |= index > 0 && part.len() == 1;
        match part.len() {
            2 if index > 0 && !is_extension => part.to_ascii_uppercase(),
            4 if index > 0 && !is_extension => {
                let (first, rest) = lower.split_at(1);
                format!("{}{rest}", first.to_ascii_uppercase())
            }
            _ => lower,
        }
    });
    Ok(parts.collect::<Vec<_>>().join("-"))
}
