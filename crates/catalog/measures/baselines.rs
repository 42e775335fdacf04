//! The searches that belljar's is compared with, implemented in the usual plain way.

use std::collections::BTreeMap;

use belljar_catalog::Catalog;

/// The words of a text, in lower case, split at anything but letters and digits.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// The best first; equal scores are sorted by path.
fn ranked(mut scores: Vec<(f64, String)>) -> Vec<String> {
    scores.retain(|(score, _)| *score > 0.0);
    scores.sort_by(|(one, path), (other, other_path)| other.total_cmp(one).then_with(|| path.cmp(other_path)));
    scores.into_iter().map(|(_, path)| path).collect()
}

/// Tools by how many of the question's words occur anywhere in their name or description.
pub fn substring(catalog: &Catalog, question: &str) -> Vec<String> {
    let asked = words(question);
    let score = |tool: &belljar_catalog::Tool| {
        let definition = tool.definition();
        let text = format!("{} {}", tool.path(), definition.description.as_deref().unwrap_or_default()).to_lowercase();
        let count = asked.iter().filter(|word| text.contains(word.as_str())).count();
        (f64::from(u32::try_from(count).expect("some words")), tool.path().to_string())
    };
    ranked(catalog.tools().map(score).collect())
}

/// Textbook BM25 (`k1` 1.2, `b` 0.75) over the tools' descriptions.
pub struct Bm25 {
    documents: Vec<(String, Vec<String>)>,
    frequency: BTreeMap<String, f64>,
    average_length: f64,
}

impl Bm25 {
    pub fn over_descriptions(catalog: &Catalog) -> Self {
        let document = |tool: &belljar_catalog::Tool| {
            let text = tool.definition().description.clone().unwrap_or_default();
            (tool.path().to_string(), words(&text))
        };
        let documents: Vec<_> = catalog.tools().map(document).collect();
        let mut frequency: BTreeMap<String, f64> = BTreeMap::new();
        for (_, words) in &documents {
            let unique: std::collections::BTreeSet<&String> = words.iter().collect();
            for word in unique {
                *frequency.entry(word.clone()).or_default() += 1.0;
            }
        }
        let total: f64 = documents.iter().map(|(_, words)| length(words)).sum();
        let average_length = total / length(&documents);
        Self { documents, frequency, average_length }
    }

    pub fn search(&self, question: &str) -> Vec<String> {
        let asked = words(question);
        let count = length(&self.documents);
        let score = |(path, words): &(String, Vec<String>)| {
            let score = |word: &String| {
                let having = self.frequency.get(word).copied().unwrap_or_default();
                let times = length(&words.iter().filter(|other| *other == word).collect::<Vec<_>>());
                let rarity = (1.0 + (count - having + 0.5) / (having + 0.5)).ln();
                let norm = 1.2 * (1.0 - 0.75 + 0.75 * length(words) / self.average_length);
                rarity * times * 2.2 / (times + norm)
            };
            (asked.iter().map(score).sum(), path.clone())
        };
        ranked(self.documents.iter().map(score).collect())
    }
}

fn length<T>(of: &[T]) -> f64 {
    f64::from(u32::try_from(of.len()).expect("a small number"))
}
