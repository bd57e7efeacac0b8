//! Console reports of limited length: blocks of entries that share the lines of a page.

use super::style::{Detail, WaterfallStyle};
use sim_analysis::format::{count, fitted, wrap};
use std::ops::Range;

/// Importance of entries. Important ones get their lines first.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// The answer, which is never omitted.
    Answer,
    /// Explains the answer.
    Main,
    /// Supports the explanation.
    Support,
    /// Details that are omitted first.
    Note,
}

/// A section: a title and entries. On a full page, entries are omitted and counted.
#[derive(Clone, Debug)]
pub struct Block {
    /// Rank of the minimum, and of further entries.
    rank: Rank,
    growth: Rank,
    title: String,
    entries: Vec<String>,
    first: usize,
    last: usize,
    focus: Option<usize>,
    noun: &'static str,
    uncounted: u64,
    is_attached: bool,
}

impl Block {
    /// Creates an empty block. Its minimum is the title and the first entry.
    pub fn new(rank: Rank, title: impl Into<String>) -> Block {
        Block {
            rank,
            growth: rank,
            title: title.into(),
            entries: Vec::new(),
            first: 1,
            last: 0,
            focus: None,
            noun: "line",
            uncounted: 0,
            is_attached: false,
        }
    }

    /// Creates a block of one text that is printed as a whole or not at all.
    pub fn text(rank: Rank, text: impl Into<String>) -> Block {
        Block { first: 0, ..Block::new(rank, text) }
    }

    /// Adds an entry, which may have several lines.
    pub fn entry(mut self, text: impl Into<String>) -> Block {
        self.entries.push(text.into());
        self
    }

    /// Adds an entry per text.
    pub fn entries(mut self, texts: impl IntoIterator<Item = String>) -> Block {
        self.entries.extend(texts);
        self
    }

    /// Sets the numbers of entries at the beginning and at the end that are omitted last.
    pub fn minimum(mut self, first: usize, last: usize) -> Block {
        (self.first, self.last) = (first, last);
        self
    }

    /// Sets the entry that is omitted last; the entries next to it are printed first.
    pub fn focus(mut self, entry: Option<usize>) -> Block {
        self.focus = entry;
        self
    }

    /// Sets the noun for the number of omitted entries, in the singular.
    pub fn noun(mut self, noun: &'static str) -> Block {
        self.noun = noun;
        self
    }

    /// Adds entries to the number of omitted ones that the caller does not have.
    pub fn uncounted(mut self, entries: u64) -> Block {
        self.uncounted = entries;
        self
    }

    /// Sets the rank of the entries beyond the minimum.
    pub fn growth(mut self, rank: Rank) -> Block {
        self.growth = rank;
        self
    }

    /// Removes the blank line before the block.
    pub fn attached(mut self) -> Block {
        self.is_attached = true;
        self
    }

    /// Returns the text of all entries.
    pub fn complete(&self) -> String {
        let titled = Some(&self.title).filter(|title| !title.is_empty());
        let lines: Vec<&str> = titled.into_iter().chain(&self.entries).map(String::as_str).collect();
        lines.join("\n")
    }

    fn is_empty(&self) -> bool {
        self.title.is_empty() && self.entries.is_empty()
    }

    /// Returns the positions of the printed entries at the beginning, or around the focus, and at the end.
    fn printed(&self, room: usize) -> (Range<usize>, Range<usize>) {
        let n = self.entries.len();
        let room = room.min(n);
        if let Some(focus) = self.focus {
            let from = focus.saturating_sub(room / 2).min(n - room);
            return (from..from + room, n..n);
        }
        let last = self.last.min(room.saturating_sub(self.first));
        (0..room - last, n - last..n)
    }

    /// Returns the text with `room` entries.
    fn render(&self, room: usize, style: &WaterfallStyle) -> String {
        let (first, last) = self.printed(room);
        let omitted = |entries: u64| {
            let text = format!("  … {} (--verbose)", count(entries, &format!("more {}", self.noun)));
            (entries > 0).then(|| style.dim(&text))
        };
        let before = omitted(first.start as u64);
        let between = omitted((last.start - first.end) as u64 + self.uncounted);
        let title = Some(self.title.clone()).filter(|title| !title.is_empty());
        let entries = |range: Range<usize>| self.entries[range].iter().cloned();
        let parts = title.into_iter().chain(before).chain(entries(first)).chain(between).chain(entries(last));
        let parts: Vec<String> = parts.map(|part| part.trim_end_matches('\n').to_owned()).collect();
        fitted(&parts.join("\n"), style.width)
    }
}

/// A console report. With `Detail::Full` it has all entries; with `Detail::Brief` at most a given number of lines,
/// unless the blocks of rank `Answer` are longer.
pub struct Page<'s> {
    limit: usize,
    style: &'s WaterfallStyle,
    blocks: Vec<Block>,
}

impl<'s> Page<'s> {
    pub fn new(limit: usize, style: &'s WaterfallStyle) -> Page<'s> {
        Page { limit, style, blocks: Vec::new() }
    }

    /// Adds a block; empty ones are ignored.
    pub fn push(&mut self, block: Block) {
        if !block.is_empty() {
            self.blocks.push(block);
        }
    }

    /// Returns the report. Blocks get the lines of their minimum in the order of their ranks, then as many entries as
    /// fit in the order of their growth.
    pub fn finish(self) -> String {
        let mut rooms: Vec<Option<usize>> = vec![None; self.blocks.len()];
        let mut order: Vec<usize> = (0..self.blocks.len()).collect();
        order.sort_by_key(|at| self.blocks[*at].rank);
        for &at in &order {
            let block = &self.blocks[at];
            let (all, least) = (block.entries.len(), (block.first + block.last).min(block.entries.len()));
            rooms[at] = Some(if self.style.detail == Detail::Full { all } else { least });
            if self.style.detail == Detail::Brief && block.rank > Rank::Answer && self.height(&rooms) > self.limit {
                rooms[at] = None;
            }
        }
        order.sort_by_key(|at| self.blocks[*at].growth);
        for &at in &order {
            while let Some(room) = rooms[at].filter(|room| *room < self.blocks[at].entries.len()) {
                rooms[at] = Some(room + 1);
                if self.height(&rooms) > self.limit {
                    rooms[at] = Some(room);
                    break;
                }
            }
        }
        self.render(&rooms)
    }

    fn height(&self, rooms: &[Option<usize>]) -> usize {
        self.render(rooms).lines().count()
    }

    fn render(&self, rooms: &[Option<usize>]) -> String {
        let mut out = String::new();
        let mut omitted = self.omitted(rooms);
        let last = self.blocks.len().saturating_sub(1);
        for (at, block) in self.blocks.iter().enumerate() {
            // The omitted blocks are named before the last one, which names other commands.
            if at == last
                && let Some(line) = omitted.take()
            {
                out.push_str(&format!("\n{}\n", fitted(&line, self.style.width)));
            }
            let Some(room) = rooms[at] else { continue };
            if !out.is_empty() && !block.is_attached {
                out.push('\n');
            }
            out.push_str(&block.render(room, self.style));
            out.push('\n');
        }
        out
    }

    /// Counts the entries of the blocks that are omitted as a whole; `None` if there are none.
    fn omitted(&self, rooms: &[Option<usize>]) -> Option<String> {
        let omitted = self.blocks.iter().zip(rooms).filter(|(_, room)| room.is_none());
        let mut counts: Vec<(&str, u64)> = Vec::new();
        for (block, _) in omitted {
            let (noun, entries) = match block.entries.len() {
                0 => ("section", 1),
                n => (block.noun, n as u64),
            };
            match counts.iter_mut().find(|(known, _)| *known == noun) {
                Some((_, sum)) => *sum += entries,
                None => counts.push((noun, entries)),
            }
        }
        let parts: Vec<String> = counts.iter().map(|(noun, n)| count(*n, &format!("more {noun}"))).collect();
        (!parts.is_empty()).then(|| self.style.dim(&format!("… {} (--verbose)", parts.join(", "))))
    }
}

/// Wraps a text to `width`. With `Detail::Brief` it has at most `lines` lines, and the last one ends with `…`.
pub fn wrapped(text: &str, width: usize, lines: usize, style: &WaterfallStyle) -> Vec<String> {
    let mut all = wrap(text, width);
    if style.detail == Detail::Brief && all.len() > lines {
        all.truncate(lines);
        if let Some(last) = all.last_mut() {
            while last.chars().count() + 2 > width && last.contains(' ') {
                last.truncate(last.rfind(' ').unwrap_or(0));
            }
            last.push_str(" …");
        }
    }
    all
}

/// Creates a block of sentences, each with a dash. It is empty without sentences.
pub fn sentence_list(rank: Rank, title: &str, sentences: &[String], style: &WaterfallStyle) -> Block {
    const LINES: usize = 3;
    let entry = |sentence: &String| {
        let lines = wrapped(sentence, style.width - 4, LINES, style);
        format!("  - {}", lines.join("\n    "))
    };
    let title = if sentences.is_empty() { String::new() } else { style.bold(title) };
    Block::new(rank, title).entries(sentences.iter().map(entry))
}

/// Creates a block from a table that is already formatted; its first line is the heading.
pub fn table_block(rank: Rank, title: &str, table: &str, style: &WaterfallStyle) -> Block {
    let mut lines = table.lines();
    let head = lines.next().unwrap_or_default();
    let title = if title.is_empty() { head.to_owned() } else { format!("{}\n{head}", style.bold(title)) };
    Block::new(rank, title).entries(lines.map(str::to_owned)).noun("row")
}
