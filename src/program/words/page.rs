//! Extracts glossary entries from a page of `docs/`: sections, table rows, rules, and list items that start with
//! bold text.
//!
//! Supports only the Markdown features that these pages use.

use super::entry::{GlossaryEntry, PASSAGE};

/// A heading with the content up to the next heading.
#[derive(Default)]
struct GlossarySection {
    level: usize,
    title: String,
    /// Text of the first paragraph; for a numbered section, of all paragraphs.
    lead: String,
    words: Vec<String>,
}

/// Returns all entries of a page. `name` is the file name without `docs/` and `.md`.
pub fn entries(name: &str, text: &str) -> Vec<GlossaryEntry> {
    let mut reader = PageReader {
        source: format!("docs/{name}.md"),
        ..PageReader::default()
    };
    let mut fenced = false;
    for line in text.lines() {
        if line.starts_with("```") || line.starts_with("<!--") {
            fenced = line.starts_with("```") && !fenced;
            reader.end_of_paragraph();
        } else if !fenced {
            reader.line(line);
        }
    }
    reader.end_of_section();
    let mut all = reader.all;
    let sections = all
        .iter()
        .filter(|e| ["section", "rules"].contains(&e.kind.as_str()));
    let sections: Vec<&str> = sections.map(|e| e.word.as_str()).collect();
    let fact = ("sections".to_owned(), sections.join(", "));
    if let Some(topic) = all.iter_mut().find(|e| e.kind == "topic") {
        topic.facts.push(fact);
    }
    all
}

#[derive(Default)]
struct PageReader {
    source: String,
    all: Vec<GlossaryEntry>,
    section: GlossarySection,
    /// Header of the current table.
    head: Option<Vec<String>>,
    /// Previous line, which may be a table header.
    before: String,
    /// Text of the current paragraph.
    paragraph: String,
    /// Whether the lead is complete.
    closed: bool,
    /// Whether the current line belongs to a list item.
    listing: bool,
}

impl PageReader {
    fn line(&mut self, line: &str) {
        if let Some(hashes) = line.find(' ').filter(|at| *at > 0 && line.starts_with('#')) {
            self.end_of_section();
            self.section = GlossarySection {
                level: hashes,
                title: plain(&line[hashes + 1..]),
                ..GlossarySection::default()
            };
            (self.closed, self.listing, self.head) = (false, false, None);
        } else if line.starts_with("|---") {
            self.head = Some(cells(&self.before));
        } else if line.starts_with('|') {
            self.end_of_paragraph();
            if let Some(head) = self.head.clone() {
                self.row(&head, &cells(line));
            }
        } else {
            self.head = None;
            self.prose(line);
        }
        line.clone_into(&mut self.before);
    }

    /// Adds the terms of a table row. The first cell may contain several terms; the last cell contains the meaning.
    fn row(&mut self, head: &[String], cells: &[String]) {
        let (Some(first), Some(meaning)) = (cells.first(), cells.last()) else {
            return;
        };
        let kind = kind_below(&plain(head.first().map_or("", String::as_str)));
        let last = plain(head.last().map_or("", String::as_str));
        let meaning = if GENERIC.contains(&last.as_str()) || last.is_empty() {
            meaning.clone()
        } else {
            format!("{last}: {meaning}")
        };
        let middle = head.iter().zip(cells).skip(1).take(cells.len().max(2) - 2);
        let facts: Vec<(String, String)> = middle
            .map(|(name, cell)| (plain(name), plain(cell)))
            .filter(|(_, cell)| !cell.is_empty())
            .collect();
        for word in words(first) {
            let kind = if is_rule(&word) { "rule" } else { &kind };
            let mut entry = self.entry(&word, kind, &meaning);
            entry.facts.clone_from(&facts);
            entry.mentions = cells.iter().skip(1).flat_map(|c| spans(c)).collect();
            self.keep(entry);
        }
    }

    fn prose(&mut self, line: &str) {
        if line.trim().is_empty() {
            return self.end_of_paragraph();
        }
        let bold = line.strip_prefix("- **").and_then(|l| l.split_once("**"));
        if let Some((word, text)) = bold {
            let text = text.trim_start_matches([':', ' ', '.']);
            let kind = if is_rule(word) { "rule" } else { "word" };
            let entry = self.entry(&plain(word), kind, text);
            self.keep(entry);
            self.listing = true;
            return;
        }
        self.listing &= line.starts_with("  ");
        if self.listing {
            return self.continued(line.trim());
        }
        if !self.paragraph.is_empty() {
            self.paragraph.push(' ');
        }
        self.paragraph.push_str(line.trim());
        if !self.closed {
            if !self.section.lead.is_empty() {
                self.section.lead.push(' ');
            }
            self.section.lead.push_str(&plain(line.trim()));
        }
    }

    /// Appends a line to the current list item.
    fn continued(&mut self, line: &str) {
        if let Some(entry) = self.all.last_mut() {
            entry.text.push(' ');
            entry.text.push_str(&plain(line));
            entry.mentions.extend(spans(line));
        }
    }

    fn entry(&self, word: &str, kind: &str, text: &str) -> GlossaryEntry {
        GlossaryEntry {
            word: word.to_owned(),
            kind: kind.to_owned(),
            of: self.section.title.clone(),
            text: plain(text),
            source: self.source.clone(),
            mentions: spans(text),
            ..GlossaryEntry::default()
        }
    }

    fn keep(&mut self, entry: GlossaryEntry) {
        self.section.words.push(entry.word.clone());
        self.all.push(entry);
    }

    fn end_of_paragraph(&mut self) {
        // References to a numbered section include the whole section.
        self.closed |= !self.section.lead.is_empty() && number(&self.section.title).is_none();
        self.before.clear();
        let text = std::mem::take(&mut self.paragraph);
        if text.contains('`') {
            let passage = self.entry(&self.section.title, PASSAGE, &text);
            self.all.push(passage);
        }
    }

    fn end_of_section(&mut self) {
        self.end_of_paragraph();
        let section = std::mem::take(&mut self.section);
        if section.title.is_empty() {
            return;
        }
        let stem = self.source.rsplit('/').next().unwrap_or("").to_owned();
        let head = section.title.split(": ").next().unwrap_or("");
        let families: Vec<&str> = head.split(", ").collect();
        let of_rules = self.source.starts_with("docs/rules/");
        let (words, kind) = match number(&section.title) {
            Some(number) => (vec![format!("{stem} {number}")], "section"),
            None if of_rules && families.iter().all(|f| is_family(f)) => {
                (families.iter().map(|f| (*f).to_owned()).collect(), "rules")
            }
            None if section.level == 1 => (vec![stem.trim_end_matches(".md").to_owned()], "topic"),
            None => (vec![section.title.clone()], "section"),
        };
        let mut facts = Vec::new();
        if !section.words.is_empty() {
            facts.push(("words".to_owned(), section.words.join(", ")));
        }
        let text = match section.lead.is_empty() {
            true => section.title.clone(),
            false if words[0] == section.title => section.lead,
            false => format!("{}. {}", section.title.trim_end_matches('.'), section.lead),
        };
        for word in words {
            self.all.push(GlossaryEntry {
                word,
                kind: kind.to_owned(),
                text: text.clone(),
                facts: facts.clone(),
                source: self.source.clone(),
                ..GlossaryEntry::default()
            });
        }
    }
}

/// Column headers that do not describe the column's content.
const GENERIC: [&str; 9] = [
    "meaning", "is", "content", "what", "does", "says", "when", "means", "here",
];

/// Returns the kind of the terms below a column header. Some headers are parts of a sentence and need a replacement.
fn kind_below(head: &str) -> String {
    let kind = match head {
        "you see" => "line of a log",
        "written" => "way to write a value",
        "what has to be done" => "request",
        "what" | "name" => "part",
        "has" => "part",
        other if other.starts_with('-') => "case of an option",
        other => other,
    };
    kind.to_owned()
}

/// Splits a table row into cells; `\|` is not a separator.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim().trim_start_matches('|');
    let line = line.strip_suffix('|').unwrap_or(line);
    let held = line.replace("\\|", "\u{1}");
    let cell = |cell: &str| cell.trim().replace('\u{1}', "|");
    held.split('|').map(cell).collect()
}

/// Returns the terms of a first cell: its code spans, or the whole text. A span such as `.p95` extends the previous
/// term.
fn words(cell: &str) -> Vec<String> {
    let code = spans(cell);
    if code.is_empty() {
        return vec![plain(cell)];
    }
    let mut all: Vec<String> = Vec::new();
    for word in code {
        match (word.strip_prefix('.'), all.last()) {
            (Some(rest), Some(before)) => {
                let stem = before
                    .rsplit_once('.')
                    .map_or(before.as_str(), |(stem, _)| stem);
                all.push(format!("{stem}.{rest}"));
            }
            _ => all.push(word),
        }
    }
    all
}

/// Returns the code spans of a text, without backticks.
pub fn spans(text: &str) -> Vec<String> {
    let parts = text.split('`').skip(1).step_by(2);
    parts.map(str::to_owned).collect()
}

/// Converts Markdown to plain text: removes backticks and bold markers, and replaces links with their text.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let link = rest[open..].find("](").and_then(|middle| {
            let (from, middle) = (open + 1, open + middle);
            let end = rest[middle..].find(')')? + middle;
            let nested = rest[from..middle].contains('[');
            (!nested).then(|| (&rest[from..middle], end + 1))
        });
        match link {
            Some((words, end)) => {
                out.push_str(&rest[..open]);
                out.push_str(words);
                rest = &rest[end..];
            }
            None => {
                out.push_str(&rest[..=open]);
                rest = &rest[open + 1..];
            }
        }
    }
    out.push_str(rest);
    out.replace(['`'], "").replace("**", "")
}

/// Returns the number at the start of a title, as in `1.4 When a Job is Failed`.
fn number(title: &str) -> Option<&str> {
    let (number, _) = title.split_once(' ')?;
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    number.split('.').all(digits).then_some(number)
}

fn is_family(word: &str) -> bool {
    (1..=4).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_uppercase())
}

/// Returns whether a word is a rule id, such as `FP-7` or `COND-1e`.
pub fn is_rule(word: &str) -> bool {
    word.split_once('-').is_some_and(|(family, number)| {
        let number = number.trim_end_matches(|c: char| c.is_ascii_lowercase());
        is_family(family) && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Runs

What comes of them. `run`
prints it.

More.

## end.csv

| column | meaning |
|---|---|
| `a`, `b.p50`, `.p95` | one of [two](glossary.md#y); `x` \\| `y` |

- **FP-7** The budget is
  used up.

### 1.4 Ends

First.

Second.
";

    #[test]
    fn rows_rules_and_sections_of_a_page_are_found() {
        let all = entries("kubernetes", PAGE);
        let told: Vec<String> = all
            .iter()
            .map(|e| format!("{} ({} of {}): {}", e.word, e.kind, e.of, e.text))
            .collect();
        assert_eq!(
            told,
            [
                "Runs (passage of Runs): What comes of them. run prints it.",
                "kubernetes (topic of ): Runs. What comes of them. run prints it.",
                "a (column of end.csv): one of two; x | y",
                "b.p50 (column of end.csv): one of two; x | y",
                "b.p95 (column of end.csv): one of two; x | y",
                "FP-7 (rule of end.csv): The budget is used up.",
                "end.csv (section of ): end.csv",
                "kubernetes.md 1.4 (section of ): 1.4 Ends. First. Second.",
            ]
        );
        assert_eq!(all[2].mentions, ["x", "y"]);
        assert_eq!(all[6].facts[0].1, "a, b.p50, b.p95, FP-7");
    }
}
