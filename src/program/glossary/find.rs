//! Searches the glossary for a term: exact, as the end of a path, by pattern, or in the text of other entries. If
//! nothing matches, finds the closest term.

use super::entry::GlossaryEntry;
use super::glossary::Glossary;
use super::rules::is_rule_id;
use sim_inputs::nearest;

/// Result of a search.
#[derive(Default)]
pub struct TermLookup<'b> {
    pub entries: Vec<&'b GlossaryEntry>,
    /// Longer terms that contain the term.
    pub also: Vec<&'b str>,
    /// Rules that the entries cite or that mention the term.
    pub rules: Vec<&'b GlossaryEntry>,
    /// Search text of the user.
    pub asked: String,
    /// Closest term, if there is no match.
    pub near: Option<&'b str>,
}

/// Maximum number of rules in a result.
const RULES: usize = 12;

impl Glossary {
    pub fn find(&self, request: &str) -> TermLookup<'_> {
        let request = request.trim();
        if let Some((kind, word)) = self.of_kind(request) {
            let mut matching = self.find(word);
            matching.entries.retain(|e| e.kind == kind);
            return matching;
        }
        let word = folded(request);
        let entries = self.matching(request, &word);
        let mut matching = TermLookup { asked: request.to_owned(), entries, ..TermLookup::default() };
        self.add_same(&mut matching.entries, &word);
        self.add_fields(&mut matching.entries, &word);
        matching.entries.sort_by_key(|e| rank(e));
        if matching.entries.is_empty() {
            matching.near = self.near(&word);
        }
        matching.also = self.similar_terms(&word, &matching.entries);
        matching.rules = self.rules_of(request, &matching.entries);
        matching
    }

    /// Returns the entries that match in the first way that any entry matches: as the word itself, as a part of a path,
    /// by a pattern, or in a text that mentions the word.
    fn matching(&self, request: &str, word: &str) -> Vec<&GlossaryEntry> {
        let is = |m: &String| folded(m) == word;
        let looks: [&dyn Fn(&GlossaryEntry) -> bool; 7] = [
            &|e| e.word == request,
            &|e| paths(e).any(is),
            &|e| paths(e).any(|p| ends_in(&folded(p), word)),
            &|e| fits(&e.word, request),
            &|e| e.mentions.iter().any(is),
            &|e| e.mentions.iter().any(|m| ends_in(&folded(m), word)),
            &|e| e.mentions.iter().any(|m| fits(m, request)),
        ];
        let found = looks.iter().map(|look| self.entries.iter().filter(|e| look(e)).collect::<Vec<_>>());
        found.into_iter().find(|entries| !entries.is_empty()).unwrap_or_default()
    }

    /// Returns whether [`Glossary::find`] finds an entry, without its suggestions.
    pub fn knows(&self, request: &str) -> bool {
        let request = request.trim();
        !self.matching(request, &folded(request)).is_empty() || !self.find(request).entries.is_empty()
    }

    /// Splits a search text into a kind and a term of this kind, such as `exit code 5` or `column total`.
    fn of_kind<'a>(&'a self, request: &'a str) -> Option<(&'a str, &'a str)> {
        let split = |e: &'a GlossaryEntry| {
            let word = request.strip_prefix(e.kind.as_str())?.strip_prefix(' ')?;
            (e.word.eq_ignore_ascii_case(word)).then_some((e.kind.as_str(), word))
        };
        self.entries.iter().find_map(split)
    }

    /// Adds entries with the same spelling, also as a synonym: `Failed` is a condition, a phase and a reason.
    fn add_same<'b>(&'b self, entries: &mut Vec<&'b GlossaryEntry>, word: &str) {
        let has_synonyms = |e: &GlossaryEntry| e.is_term() || e.kind == "column";
        let is_synonym = |e: &GlossaryEntry| has_synonyms(e) && e.aliases.iter().any(|a| folded(a) == word);
        let is_same = |e: &&GlossaryEntry| folded(&e.word) == word || is_synonym(e);
        for entry in self.entries.iter().filter(is_same) {
            if !entries.iter().any(|known| std::ptr::eq(*known, entry)) {
                entries.push(entry);
            }
        }
    }

    /// Adds the fields whose path ends with the word, unless the name is common: `maxRestarts` is a field of the
    /// manifest and a key of outputs.
    fn add_fields<'b>(&'b self, entries: &mut Vec<&'b GlossaryEntry>, word: &str) {
        const FIELDS_MAX: usize = 3;
        let is_named = |e: &&GlossaryEntry| e.kind == FIELD && paths(e).any(|p| ends_in(&folded(p), word));
        let fields: Vec<&GlossaryEntry> = self.entries.iter().filter(is_named).collect();
        if !entries.is_empty() && fields.len() <= FIELDS_MAX {
            let is_new = |field: &&GlossaryEntry| !entries.iter().any(|known| std::ptr::eq(*known, *field));
            let new: Vec<&GlossaryEntry> = fields.into_iter().filter(is_new).collect();
            entries.extend(new);
        }
    }

    fn similar_terms(&self, word: &str, result: &[&GlossaryEntry]) -> Vec<&str> {
        const SHORTEST: usize = 3;
        let mut all: Vec<&str> = Vec::new();
        for entry in self.entries.iter() {
            let longer = folded(&entry.word);
            let within = word.len() >= SHORTEST && longer.contains(word) && longer != *word;
            let known = result.iter().any(|e| e.word == entry.word);
            if within && !known && !all.contains(&entry.word.as_str()) {
                all.push(&entry.word);
            }
        }
        all
    }

    fn near(&self, word: &str) -> Option<&str> {
        nearest(word, self.entries.iter().map(|e| e.word.as_str()))
    }

    fn rules_of(&self, request: &str, result: &[&GlossaryEntry]) -> Vec<&GlossaryEntry> {
        let mut all: Vec<&GlossaryEntry> = Vec::new();
        let cited = result.iter().filter(|e| !SWEEPING.contains(&e.kind.as_str()));
        let texts = cited.flat_map(|e| {
            let facts = e.facts.iter().map(|(_, text)| text.as_str());
            std::iter::once(e.text.as_str()).chain(facts)
        });
        for id in texts.flat_map(rule_ids) {
            all.extend(self.rule(id));
        }
        let last = request.rsplit('.').next().unwrap_or(request);
        if last.len() > 3 && !last.contains(' ') {
            let rules = self.entries.iter().filter(|e| e.is_rule());
            all.extend(rules.filter(|e| speaks_of(&e.text, last)));
        }
        let mut seen: Vec<&str> = result.iter().map(|e| e.word.as_str()).collect();
        all.retain(|e| {
            let new = !seen.contains(&e.word.as_str());
            seen.push(&e.word);
            new
        });
        all.truncate(RULES);
        all
    }
}

/// Kinds whose texts are lists of rules. Their rules do not count as citations.
const SWEEPING: [&str; 3] = ["rules", "section", "file"];

const FIELD: &str = "field";

/// Returns the position of an entry among the meanings of a word: fields of manifests, other fields, terms, metrics,
/// and then the rest.
fn rank(entry: &GlossaryEntry) -> u8 {
    match entry.kind.as_str() {
        FIELD if entry.of == "a JobSet manifest" => 0,
        FIELD => 1,
        _ if entry.is_term() => 2,
        "metric" => 3,
        _ => 4,
    }
}

/// Normalizes a term: removes leading dashes, indexes and backticks, and converts it to lower case, so that
/// `rules[0].action` equals `rules[].action`.
pub fn folded(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let mut within = false;
    for c in word.trim().trim_start_matches("--").chars() {
        match c {
            '[' => within = true,
            ']' => within = false,
            '`' => {}
            c if within && c.is_ascii_digit() => {}
            c if within => out.push(c),
            c => out.extend(c.to_lowercase()),
        }
    }
    without_indexes(&out)
}

/// Removes list indexes from a path: `faults.0.at` becomes `faults.at`.
fn without_indexes(path: &str) -> String {
    let parts: Vec<&str> = path.split('.').collect();
    let last = parts.len() - 1;
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let kept = parts.iter().enumerate();
    let kept = kept.filter(|(i, part)| *i == 0 || *i == last || !digits(part));
    kept.map(|(_, part)| *part).collect::<Vec<_>>().join(".")
}

fn paths(entry: &GlossaryEntry) -> impl Iterator<Item = &String> {
    std::iter::once(&entry.word).chain(&entry.aliases)
}

fn ends_in(path: &str, word: &str) -> bool {
    let before = path.strip_suffix(word);
    before.is_some_and(|before| before.ends_with('.') || before.ends_with(':'))
}

/// Returns whether a pattern with an upper-case variable matches a word: `failures_CAUSE`, `lost_s.CAUSE`,
/// `NAME_repairs`.
fn fits(pattern: &str, word: &str) -> bool {
    let (mut rest, mut literal) = (pattern, String::new());
    let mut pieces: Vec<String> = Vec::new();
    let capital = |c: char| c.is_ascii_uppercase();
    while let Some(at) = rest.find(capital) {
        let run = rest[at..].find(|c| !capital(c)).unwrap_or(rest.len() - at);
        literal.push_str(&rest[..at]);
        if run >= 3 {
            pieces.push(std::mem::take(&mut literal));
        } else {
            literal.push_str(&rest[at..at + run]);
        }
        rest = &rest[at + run..];
    }
    literal.push_str(rest);
    pieces.push(literal);
    let [first, last] = pieces.as_slice() else {
        return false;
    };
    let within = word.strip_prefix(first.as_str());
    let within = within.and_then(|w| w.strip_suffix(last.as_str()));
    first.len() + last.len() >= 3 && within.is_some_and(|w| !w.is_empty())
}

fn rule_ids(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.filter(|word| is_rule_id(word))
}

/// Returns whether a text contains a term as a whole word.
fn speaks_of(text: &str, word: &str) -> bool {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_');
    let mut words = words.filter(|w| !w.is_empty());
    // Lower-case words without `-` or `_` may be ordinary English words and do not count.
    let named = word.contains(char::is_uppercase) || word.contains(['-', '_']);
    named && words.any(|w| w == word)
}
