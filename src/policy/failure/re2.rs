//! `onJobFailureMessagePatterns` with the syntax of Go's `regexp` (RE2), implemented with the `regex` crate.
//!
//! Must never fail a pass: upstream only logs an invalid pattern, which never matches (API-20, C-6).

use regex::bytes::{Regex, RegexBuilder};

/// Compiles a pattern; `None` if it is invalid.
pub fn compile(pattern: &str) -> Option<Regex> {
    let translated = translate(pattern);
    let build = |unicode| RegexBuilder::new(&translated).unicode(unicode).octal(true).build();
    // Byte mode first, in which (?i) and \b are ASCII without tables. Only \p{…} and non-ASCII letters in a class
    // need the other mode.
    build(false).or_else(|_| build(true)).ok()
}

/// Rewrites the syntax that the two dialects interpret differently.
fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut rest = pattern;
    let mut in_class = false;
    while let Some(c) = rest.chars().next() {
        let tail = &rest[c.len_utf8()..];
        rest = match c {
            '\\' => escape(tail, in_class, &mut out),
            '[' if in_class && !tail.starts_with(':') => literal(c, tail, &mut out),
            '&' | '~' if in_class => literal(c, tail, &mut out),
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
            '{' if !in_class && !is_repeat(tail) => literal(c, tail, &mut out),
            _ => {
                in_class &= c != ']';
                out.push(c);
                tail
            }
        };
    }
    out
}

fn literal<'p>(c: char, tail: &'p str, out: &mut String) -> &'p str {
    out.push('\\');
    out.push(c);
    tail
}

/// A `]` directly after `[` or `[^` is a member of the class.
fn open_class<'p>(mut tail: &'p str, out: &mut String) -> &'p str {
    out.push('[');
    if let Some(t) = tail.strip_prefix('^') {
        out.push('^');
        tail = t;
    }
    if let Some(t) = tail.strip_prefix(']') {
        out.push_str("\\]");
        tail = t;
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

/// Go interprets `{` as a literal unless it starts `{n}`, `{n,}` or `{n,m}`.
fn is_repeat(tail: &str) -> bool {
    let Some((inside, _)) = tail.split_once('}') else {
        return false;
    };
    let (low, high) = inside.split_once(',').unwrap_or((inside, ""));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    !low.is_empty() && digits(low) && digits(high)
}
