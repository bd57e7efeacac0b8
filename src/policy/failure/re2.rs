//! `onJobFailureMessagePatterns` with the syntax of Go's `regexp` (RE2), implemented with the `regex` crate.
//!
//! Must never fail a pass: upstream only logs an invalid pattern, which never matches (API-20, C-6).

use regex::bytes::{Regex, RegexBuilder};

/// Compiles a pattern; `None` if it is invalid.
pub fn compile(pattern: &str) -> Option<Regex> {
    let translated = translate(pattern)?;
    let build = |unicode| RegexBuilder::new(&translated).unicode(unicode).octal(true).build();
    // Byte mode first, in which (?i) and \b are ASCII without tables. Only \p{…} and non-ASCII letters in a class
    // need the other mode.
    build(false).or_else(|_| build(true)).ok()
}

/// Rewrites the syntax that the two dialects interpret differently. `None` if only the crate accepts the pattern.
fn translate(pattern: &str) -> Option<String> {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut rest = pattern;
    let mut in_class = false;
    let mut repeats = Repeats::default();
    while let Some(c) = rest.chars().next() {
        let tail = &rest[c.len_utf8()..];
        if !in_class {
            match (c, repeat_of(rest)) {
                ('(', _) if !has_known_flags(tail) => return None,
                ('(', _) => repeats.open(),
                (')', _) => repeats.close(),
                (_, Some(repeat)) => {
                    repeats.add(&repeat)?;
                    out.push_str(&rest[..repeat.len]);
                    rest = &rest[repeat.len..];
                    continue;
                }
                _ => repeats.begin_item(),
            }
        }
        rest = match c {
            '\\' => escape(tail, in_class, &mut out),
            '[' if in_class && !tail.starts_with(':') => literal(c, tail, &mut out),
            '&' | '~' if in_class => literal(c, tail, &mut out),
            // A range up to `-`, not the difference of two classes.
            '-' if in_class && tail.starts_with('-') => {
                out.push_str("-\\-");
                &tail[1..]
            }
            '[' if in_class => {
                let end = tail.find(":]").map_or(tail.len(), |at| at + 2);
                out.push('[');
                out.push_str(&tail[..end]);
                &tail[end..]
            }
            '[' => {
                in_class = true;
                open_class(tail, &mut out)
            }
            '{' if !in_class => literal(c, tail, &mut out),
            _ => {
                in_class &= c != ']';
                out.push(c);
                tail
            }
        };
    }
    Some(out)
}

/// A repetition operator.
struct Repeat {
    /// Length with a `?` that makes it lazy.
    len: usize,
    /// Least and largest number of `{n,m}`; the latter is absent in `{n,}`.
    bounds: Option<RepeatBounds>,
}

struct RepeatBounds {
    min: u64,
    max: Option<u64>,
}

/// Returns the repetition operator at the beginning of a text. A `{` is a literal unless it starts `{n}`, `{n,}` or
/// `{n,m}`.
fn repeat_of(text: &str) -> Option<Repeat> {
    let (len, bounds) = match text.as_bytes().first()? {
        b'*' | b'+' | b'?' => (1, None),
        b'{' => {
            let (inside, _) = text[1..].split_once('}')?;
            let (low, high) = inside.split_once(',').unwrap_or((inside, inside));
            let number = |digits: &str| {
                let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
                is_number.then(|| digits.parse().unwrap_or(u64::MAX))
            };
            let max = if high.is_empty() { None } else { Some(number(high)?) };
            (inside.len() + 2, Some(RepeatBounds { min: number(low)?, max }))
        }
        _ => return None,
    };
    let is_lazy = text[len..].starts_with('?');
    Some(Repeat { len: len + usize::from(is_lazy), bounds })
}

/// Repetitions so far: Go refuses those of repetitions without a group, and those of more than 1,000 copies.
#[derive(Default)]
struct Repeats {
    /// Copies of the current item, or of the largest item of the current group and of those around it.
    item: u64,
    groups: Vec<u64>,
    largest: u64,
    is_repeated: bool,
}

impl Repeats {
    fn begin_item(&mut self) {
        self.largest = self.largest.max(self.item);
        (self.item, self.is_repeated) = (1, false);
    }

    fn open(&mut self) {
        self.groups.push(self.largest.max(self.item));
        (self.item, self.largest, self.is_repeated) = (0, 0, false);
    }

    fn close(&mut self) {
        let inside = self.largest.max(self.item).max(1);
        self.largest = self.groups.pop().unwrap_or(0);
        (self.item, self.is_repeated) = (inside, false);
    }

    /// The current item is repeated.
    fn add(&mut self, repeat: &Repeat) -> Option<()> {
        const COPIES_MAX: u64 = 1_000;
        if std::mem::replace(&mut self.is_repeated, true) {
            return None;
        }
        let Some(RepeatBounds { min, max }) = repeat.bounds else { return Some(()) };
        self.item = self.item.max(1).saturating_mul(max.unwrap_or(min).max(1));
        let is_ordered = max.is_none_or(|max| min <= max);
        (is_ordered && min <= COPIES_MAX && self.item <= COPIES_MAX).then_some(())
    }
}

/// Returns whether a group has no flags or those that Go knows. `tail` follows the parenthesis.
fn has_known_flags(tail: &str) -> bool {
    let Some(flags) = tail.strip_prefix('?') else { return true };
    let is_named =
        flags.starts_with("P<") || flags.starts_with('<') && !flags.starts_with("<=") && !flags.starts_with("<!");
    is_named || flags.trim_start_matches(['i', 'm', 's', 'U', '-']).starts_with([':', ')'])
}

fn literal<'p>(c: char, tail: &'p str, out: &mut String) -> &'p str {
    out.push('\\');
    out.push(c);
    tail
}

/// A `]` or `-` directly after `[` or `[^` is a member of the class.
fn open_class<'p>(mut tail: &'p str, out: &mut String) -> &'p str {
    out.push('[');
    if let Some(t) = tail.strip_prefix('^') {
        out.push('^');
        tail = t;
    }
    for member in [']', '-'] {
        if let Some(t) = tail.strip_prefix(member) {
            out.extend(['\\', member]);
            return t;
        }
    }
    tail
}

/// `tail` follows a backslash.
fn escape<'p>(tail: &'p str, in_class: bool, out: &mut String) -> &'p str {
    let Some(c) = tail.chars().next() else {
        out.push('\\');
        return tail;
    };
    let after = &tail[c.len_utf8()..];
    // Go's Perl classes are ASCII-only.
    let (negated, members) = match c {
        'd' | 'D' => (c == 'D', "0-9"),
        'w' | 'W' => (c == 'W', "0-9A-Za-z_"),
        's' | 'S' => (c == 'S', r"\t\n\x0C\r "),
        'Q' if !in_class => {
            let (quoted, end) = after.split_once("\\E").unwrap_or((after, ""));
            out.push_str(&regex::escape(quoted));
            return end;
        }
        // Word boundaries in the crate, literal characters in Go.
        '<' | '>' => {
            out.push(c);
            return after;
        }
        _ => {
            // `\p{Lu}` and `\x{2603}`: the braces belong to the escape.
            let braced = matches!(c, 'p' | 'P' | 'x') && after.starts_with('{');
            let end = match after.find('}') {
                Some(at) if braced => at + 1,
                _ => 0,
            };
            out.push('\\');
            out.push(c);
            out.push_str(&after[..end]);
            return &after[end..];
        }
    };
    match (negated, in_class) {
        (false, true) => out.push_str(members),
        (negated, _) => {
            out.push_str(if negated { "[^" } else { "[" });
            out.push_str(members);
            out.push(']');
        }
    }
    after
}
