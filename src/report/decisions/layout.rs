//! Column layout of the decision log: time, number, text, and the rule or cause on the right.
//!
//! This module does not interpret the text of a line.

use sim_analysis::format;
use std::fmt::Write;

/// Line width in columns. Text on the right is aligned to it.
const WIDTH: usize = 100;

/// Appends a line `at  #seq  text ... right`.
pub fn push(out: &mut String, at: &str, seq: &str, text: &str, right: &str) {
    let room = WIDTH - 22 - right.len() - 1;
    for (i, part) in format::wrap(&text.replace('\n', "; "), room).iter().enumerate() {
        let first = i == 0;
        let (at, seq, right) = if first { (at, seq, right) } else { ("", "", "") };
        aligned(out, &format!("{at:>12}  {seq:<6}  {part}"), right);
    }
}

/// Appends a line `label  text ... [rule]`, indented below a title.
pub fn entry(out: &mut String, label: &str, text: &str, rule: &str) {
    let right = bracketed(rule);
    let indent = text.len() - text.trim_start().len();
    let room = WIDTH - 25 - 10 - indent;
    for (i, part) in format::wrap(&text.replace('\n', "; "), room).iter().enumerate() {
        let first = i == 0;
        let (label, right) = if first { (label, right.as_str()) } else { ("", "") };
        let hang = indent + if first { 0 } else { 2 };
        aligned(out, &format!("{:14}{label:<11}{:hang$}{part}", "", ""), right);
    }
}

pub fn bracketed(rule: &str) -> String {
    match rule {
        "" => String::new(),
        rule => format!("[{rule}]"),
    }
}

fn aligned(out: &mut String, left: &str, right: &str) {
    if right.is_empty() {
        let _ = writeln!(out, "{}", left.trim_end());
    } else {
        let room = WIDTH.saturating_sub(right.len());
        let _ = writeln!(out, "{left:<room$}{right}");
    }
}
