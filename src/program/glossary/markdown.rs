//! The few features of Markdown that texts of the glossary use: code spans, bold text and links.

/// Returns the code spans of a text, without backticks.
pub fn code_spans(text: &str) -> Vec<String> {
    let parts = text.split('`').skip(1).step_by(2);
    parts.map(str::to_owned).collect()
}

/// Returns the terms that a table cell names: its code spans, or the whole text. A span such as `.p95` extends the
/// previous term: `a.p50`, `.p95` names `a.p50` and `a.p95`.
pub fn terms(cell: &str) -> Vec<String> {
    let spans = code_spans(cell);
    if spans.is_empty() {
        return vec![plain(cell)];
    }
    let mut terms: Vec<String> = Vec::new();
    for span in spans {
        match (span.strip_prefix('.'), terms.last()) {
            (Some(last_part), Some(previous)) => {
                let stem = previous.rsplit_once('.').map_or(&**previous, |(stem, _)| stem);
                terms.push(format!("{stem}.{last_part}"));
            }
            _ => terms.push(span),
        }
    }
    terms
}

/// Converts Markdown to plain text: removes backticks and bold markers, and replaces links with their text.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let link = rest[open..].find("](").and_then(|middle| {
            let (start, middle) = (open + 1, open + middle);
            let end = rest[middle..].find(')')? + middle;
            let is_nested = rest[start..middle].contains('[');
            (!is_nested).then(|| (&rest[start..middle], end + 1))
        });
        match link {
            Some((label, end)) => {
                out.push_str(&rest[..open]);
                out.push_str(label);
                rest = &rest[end..];
            }
            None => {
                out.push_str(&rest[..=open]);
                rest = &rest[open + 1..];
            }
        }
    }
    out.push_str(rest);
    out.replace('`', "").replace("**", "")
}

#[cfg(test)]
#[path = "../../../tests/inside/program/glossary/markdown.rs"]
mod tests;
