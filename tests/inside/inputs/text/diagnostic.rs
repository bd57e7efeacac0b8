//! Unit tests of `sim_inputs::text::diagnostic`.

use super::*;

fn source() -> SourceText {
    SourceText { file: "train.yaml".into(), text: "a: 1\n        parallelsim: 4\n".into() }
}

fn pos(line: u32, column: u32, len: u32) -> SourcePosition {
    SourcePosition { line, column, len, ..SourcePosition::default() }
}

#[test]
fn an_error_shows_place_line_and_suggestion() {
    let source = source();
    let mut d = Diagnostic::at(&source, pos(2, 9, 11), "unknown field \"parallelsim\"");
    d.nearest("parallelsim", ["parallelism", "completions"]);
    d.legal("parallelism, completions");
    assert_eq!(
        d.to_string(),
        "error: unknown field \"parallelsim\"\n --> train.yaml:2:9\n  |\n2 |         parallelsim: 4\n  \
             |         ^^^^^^^^^^^ did you mean \"parallelism\"?\n  = legal: parallelism, completions"
    );
}

#[test]
fn a_long_line_is_cut_around_the_error() {
    let source = SourceText { file: "x".into(), text: format!("{}BAD{}", "a".repeat(500), "b".repeat(500)) };
    let text = Diagnostic::at(&source, pos(1, 501, 3), "m").to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[3].len() < 120, "{}", lines[3]);
    let caret = lines[4].find('^').unwrap();
    assert_eq!(&lines[3][caret..caret + 3], "BAD");
}

#[test]
fn a_place_of_the_parser_is_shown_as_one_that_is_counted() {
    let text = "a: 1\nb:\n  - {x: 2, ünï: 3, bad: 4}\r\nlast: 5";
    for word in ["a", "x", "ünï", "bad", "last"] {
        let byte = text.find(word).unwrap();
        let line = text[..byte].matches('\n').count() as u32 + 1;
        let start = text[..byte].rfind('\n').map_or(0, |at| at + 1);
        let counted = pos(line, text[start..byte].chars().count() as u32 + 1, 1);
        let known = SourcePosition { byte: byte as u32, ..counted };
        assert_eq!(snippet(text, known), snippet(text, counted), "{word}");
        let (displayed, offset) = snippet(text, known);
        let displayed: String = displayed.chars().skip(offset as usize).collect();
        assert!(displayed.starts_with(word), "{word}: {displayed}");
    }
}

#[test]
fn a_long_name_does_not_fill_the_screen() {
    let text = Diagnostic::of_file("x", "n".repeat(2_000_000)).to_string();
    assert!(text.len() < 1_000, "{}", text.len());
}

#[test]
fn many_errors_are_counted() {
    let mistake = |i: u8| Diagnostic::of_file("x", String::from(char::from(b'a' + i)));
    let all = Diagnostics((0..25).map(mistake).collect());
    assert!(all.to_string().ends_with("... and 5 more"));
}

#[test]
fn repeated_mistakes_are_counted() {
    let one = |i: usize| Diagnostic::of_file("a.csv", format!("no node {:?} in pool {i}", format!("gke-{i}x")));
    for (n, printed, counted) in
        [(5, 5, ""), (6, 2, "... and 4 more of this kind"), (400, 2, "... and 398 more of this kind")]
    {
        let mut all: Vec<Diagnostic> = (0..n).map(one).collect();
        all.push(Diagnostic::of_file("a.csv", "another mistake"));
        let text = Diagnostics(all).to_string();
        assert_eq!(text.matches("error: no node").count(), printed, "{text}");
        assert!(text.contains(counted) && text.contains("another mistake"), "{text}");
    }
}
