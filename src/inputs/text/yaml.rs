//! Parses texts to `YamlNode`s. Only this module uses the YAML crate; JSON is parsed as YAML.
//!
//! This module must never interpret keys. Depth, size and aliases are limited so that no input can exhaust memory.
//! Texts are parsed on a separate stack that is large enough for the maximum depth.

use super::diagnostic::{Diagnostic, Diagnostics, SourceText};
use super::file_error::{FileTextError, TEXT_MAX};
use super::node::{MappingKey, NodeOrigin, SourcePosition, YamlNode, YamlValue};
use super::plain_scalars;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_yaml::budget::BudgetBreach;
use serde_yaml::{Error, Location, MessageFormatter, Spanned};
use std::fmt;

const DEPTH_MAX: usize = 64;
/// Stack size of the parsing thread in bytes. The parser recurses for each level, with 4 KiB per level in a release
/// build and 36 KiB without optimization. At the maximum depth this exceeds the 2 MiB of a default thread.
const STACK_BYTES: usize = DEPTH_MAX * (128 << 10);
/// Maximum number of values. Each takes 55 bytes and 1 µs; a dump of 100,000 Workloads has 6 million.
const NODES_MAX: usize = 10_000_000;
/// Maximum number of values added by aliases. Configuration files need a few hundred.
const ALIAS_NODES_MAX: usize = 200_000;

/// Parses all documents of a text. Empty documents are skipped.
pub fn parse(source: &SourceText) -> Result<Vec<YamlNode>, Diagnostics> {
    let bytes = source.text.len() as u64;
    if bytes > TEXT_MAX {
        let error = FileTextError::TooLarge { bytes, limit: TEXT_MAX };
        return Err(error.in_file(&source.file).into());
    }
    if let Some(error) = leading_tab(source) {
        return Err(error.into());
    }
    on_own_stack(|| {
        let documents: Vec<YamlNode> =
            serde_yaml::from_multiple_with_options(&source.text, options()).map_err(|e| explain(source, &e))?;
        let mut documents = without_added_break(documents, &source.text);
        plain_scalars::resolve(&mut documents, &source.text);
        Ok(documents.into_iter().filter(|d| !d.is_null()).collect())
    })
}

/// Returns an error if the first line with content begins with a tab, which YAML does not allow as indentation. The
/// parser would read it as a space. JSON may be indented with tabs.
fn leading_tab(source: &SourceText) -> Option<Diagnostic> {
    let mut lines = source.text.lines().enumerate();
    let (i, line) = lines.find(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))?;
    let content = line.trim_start();
    let has_tab = line[..line.len() - content.len()].contains('\t') && !content.starts_with(['{', '[']);
    has_tab.then(|| {
        let at = SourcePosition { line: i as u32 + 1, column: 1, len: 1, ..SourcePosition::default() };
        let mut error = Diagnostic::at(source, at, "the line begins with a tab, and YAML is indented with spaces");
        error.suggest("remove the tab");
        error
    })
}

/// Runs the parser on a thread with a large stack. If threads are not available, it runs on the stack of the caller.
fn on_own_stack<T: Send>(read: impl Fn() -> T + Sync) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        match thread.spawn_scoped(scope, &read).map(|reads| reads.join()) {
            Ok(Ok(read)) => read,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => read(),
        }
    })
}

/// A duplicate key, as a pair of line and name.
pub type DuplicateKey = (u32, String);

/// Parses the first document like a lenient parser, in which the last of equal keys takes precedence. Also returns
/// the first duplicate key.
pub fn first_document(source: &SourceText) -> Result<(Option<YamlNode>, Option<DuplicateKey>), Diagnostics> {
    on_own_stack(|| first_of(source))
}

fn first_of(source: &SourceText) -> Result<(Option<YamlNode>, Option<DuplicateKey>), Diagnostics> {
    let mut lenient = options();
    lenient.duplicate_keys = serde_yaml::DuplicateKeyPolicy::LastWins;
    let documents: Result<Vec<YamlNode>, _> = serde_yaml::from_multiple_with_options(&source.text, lenient);
    let documents = documents.map_err(|e| explain(source, &e))?;
    let mut documents = without_added_break(documents, &source.text);
    plain_scalars::resolve(&mut documents, &source.text);
    let strict: Result<Vec<YamlNode>, Error> = serde_yaml::from_multiple_with_options(&source.text, options());
    let duplicate = match strict.as_ref().map_err(Error::without_snippet) {
        Err(e @ Error::DuplicateMappingKey { key, .. }) => {
            let line = e.location().map(position).unwrap_or_default().line;
            Some((line, key.clone().unwrap_or_default()))
        }
        _ => None,
    };
    Ok((documents.into_iter().next(), duplicate))
}

/// Removes the line break that the parser adds to a block scalar at the end of a text without one. Clip and keep both
/// take over the final line break only if there is one.
fn without_added_break(mut documents: Vec<YamlNode>, text: &str) -> Vec<YamlNode> {
    let last_line = text.lines().last().unwrap_or("").trim_start();
    let mut last = documents.last_mut().filter(|_| !text.ends_with('\n') && !last_line.is_empty());
    while let Some(node) = last.take() {
        match &mut node.value {
            YamlValue::Seq(items) => last = items.last_mut(),
            YamlValue::Map(entries) => last = entries.last_mut().map(|(_, value)| value),
            // Only block scalars contain the last line literally and end with a line break.
            YamlValue::Str(scalar) if scalar.trim_end_matches('\n').ends_with(last_line) => {
                if let Some(end) = scalar.strip_suffix('\n').map(str::len) {
                    scalar.truncate(end);
                }
            }
            _ => {}
        }
    }
    documents
}

fn options() -> serde_yaml::Options {
    serde_yaml::options! {
        budget: serde_yaml::budget! {
            max_depth: DEPTH_MAX,
            flow_nesting_limit: DEPTH_MAX,
            max_nodes: NODES_MAX,
            max_events: 3 * NODES_MAX,
            max_documents: 100_000,
            max_total_scalar_bytes: TEXT_MAX as usize,
            max_aliases: 10_000,
            max_anchors: 10_000,
        },
        alias_limits: serde_yaml::alias_limits! {
            max_total_replayed_events: ALIAS_NODES_MAX,
            max_replay_stack_depth: 16,
        },
        // Kubernetes parses YAML 1.1, in which file modes such as 0644 are octal.
        legacy_octal_numbers: true,
        non_finite_float_policy: serde_yaml::NonFiniteFloatPolicy::PassThrough,
        with_snippet: false,
    }
}

/// Converts an error of the YAML crate to a diagnostic.
fn explain(source: &SourceText, error: &Error) -> Diagnostics {
    let error = error.without_snippet();
    let inner = match error {
        Error::AliasError { error, .. } => error.as_ref(),
        _ => error,
    };
    let place = error.location().map(position).unwrap_or_default();
    let at = SourcePosition { len: 1, ..place };
    let mut legal = None;
    let message = match inner {
        Error::DuplicateMappingKey { key, .. } => {
            legal = Some("each key only once in a mapping".to_owned());
            match key {
                Some(key) => format!("duplicate key {key:?}"),
                None => "duplicate key".to_owned(),
            }
        }
        Error::Budget { breach, .. } => {
            let (message, limit) = describe_breach(breach);
            legal = Some(limit);
            message
        }
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            legal = Some(format!("aliases that add at most {ALIAS_NODES_MAX} values"));
            "aliases expand to too many values".to_owned()
        }
        Error::UnknownAnchor { .. } => "no anchor with this name is defined".to_owned(),
        other => {
            let text = serde_yaml::UserMessageFormatter.format_message(other).into_owned();
            if text.contains("recursion limit") {
                legal = Some(format!("at most {DEPTH_MAX} levels"));
                "nested too deeply".to_owned()
            } else {
                let printable = |c: char| if c.is_control() { ' ' } else { c };
                let text: String = text.chars().map(printable).collect();
                format!("not valid YAML: {text}")
            }
        }
    };
    let mut diagnostic =
        if at.line > 0 { Diagnostic::at(source, at, message) } else { Diagnostic::of_file(&source.file, message) };
    diagnostic.legal = legal;
    diagnostic.into()
}

fn describe_breach(breach: &BudgetBreach) -> (String, String) {
    match breach {
        BudgetBreach::Depth { .. } => ("nested too deeply".to_owned(), format!("at most {DEPTH_MAX} levels")),
        BudgetBreach::Aliases { .. } | BudgetBreach::Anchors { .. } | BudgetBreach::AliasAnchorRatio { .. } => {
            ("too many anchors or aliases".to_owned(), "a few hundred".to_owned())
        }
        BudgetBreach::ScalarBytes { .. } => {
            ("too much text in one file".to_owned(), format!("at most {} MiB", TEXT_MAX >> 20))
        }
        _ => ("too many values in one file".to_owned(), format!("at most {NODES_MAX} values")),
    }
}

fn position(location: Location) -> SourcePosition {
    let short = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    SourcePosition {
        line: short(location.line()),
        column: short(location.column()),
        len: short(location.span().len()),
        byte: location.span().byte_offset().map_or(0, short),
        origin: NodeOrigin::File,
    }
}

impl<'de> Deserialize<'de> for YamlNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<YamlNode, D::Error> {
        let spanned = Spanned::<RawValue>::deserialize(deserializer)?;
        let mut at = position(spanned.referenced);
        if matches!(spanned.value.0, YamlValue::Seq(_) | YamlValue::Map(_)) {
            at.len = 1;
        }
        Ok(YamlNode::new(at, spanned.value.0))
    }
}

/// A value without its position.
struct RawValue(YamlValue);

impl<'de> Deserialize<'de> for RawValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawValue, D::Error> {
        deserializer.deserialize_any(BareVisitor).map(RawValue)
    }
}

struct BareVisitor;

impl<'de> Visitor<'de> for BareVisitor {
    type Value = YamlValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<YamlValue, E> {
        Ok(YamlValue::Null)
    }

    fn visit_none<E>(self) -> Result<YamlValue, E> {
        Ok(YamlValue::Null)
    }

    fn visit_bool<E>(self, b: bool) -> Result<YamlValue, E> {
        Ok(YamlValue::Bool(b))
    }

    fn visit_i64<E>(self, i: i64) -> Result<YamlValue, E> {
        Ok(YamlValue::Int(i))
    }

    fn visit_u64<E>(self, u: u64) -> Result<YamlValue, E> {
        Ok(i64::try_from(u).map_or(YamlValue::Float(u as f64), YamlValue::Int))
    }

    fn visit_f64<E>(self, f: f64) -> Result<YamlValue, E> {
        // kubectl sends YAML as JSON written by Go, which formats 2.0 and 2e0 as `2`.
        let complete = f.fract() == 0.0 && f.abs() < i64::MAX as f64;
        Ok(if complete { YamlValue::Int(f as i64) } else { YamlValue::Float(f) })
    }

    fn visit_str<E>(self, s: &str) -> Result<YamlValue, E> {
        Ok(YamlValue::Str(s.to_owned()))
    }

    fn visit_string<E>(self, s: String) -> Result<YamlValue, E> {
        Ok(YamlValue::Str(s))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<YamlValue, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element::<YamlNode>()? {
            items.push(item);
        }
        Ok(YamlValue::Seq(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<YamlValue, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let at = position(key.referenced);
            let name = key.value;
            entries.push((MappingKey { name, at }, map.next_value::<YamlNode>()?));
        }
        Ok(YamlValue::Map(entries))
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/inputs/text/yaml.rs"]
mod tests;
