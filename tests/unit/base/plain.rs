//! Tests of `sim_base::escape`.

use sim_base::escape::*;
#[test]
fn what_would_change_a_terminal_is_spelled_out() {
    for (text, expected) in [
        ("plain, ünïcode\n\ttext", "plain, ünïcode\n\ttext"),
        ("a\u{1b}]0;x\u{7}b", "a\\u001b]0;x\\u0007b"),
        ("\r\u{8}\u{7f}\u{9b}31m", "\\u000d\\u0008\\u007f\\u009b31m"),
        ("\u{202e}abc\u{2066}", "\\u202eabc\\u2066"),
        ("\u{1b}[31mred\u{1b}[0m", "\\u001b[31mred\\u001b[0m"),
    ] {
        assert_eq!(for_terminal(text, false), expected);
    }
}

#[test]
fn ascii_text_has_no_other_characters() {
    for (text, expected) in [
        ("b − a: −0.1 ±2 · 5 × 3", "b - a: -0.1 +-2 - 5 x 3"),
        ("\u{1b}[1mn ≥ 2\u{1b}[0m", "\u{1b}[1mn >= 2\u{1b}[0m"),
        ("ünï", "\\u00fcn\\u00ef"),
    ] {
        assert_eq!(to_ascii(text), expected);
    }
}

#[test]
fn colors_stay_where_colors_are_shown() {
    for (text, expected) in [
        ("\u{1b}[1;31mred\u{1b}[0m", "\u{1b}[1;31mred\u{1b}[0m"),
        ("\u{1b}[2J\u{1b}[m", "\\u001b[2J\u{1b}[m"),
        ("\u{1b}", "\\u001b"),
    ] {
        assert_eq!(for_terminal(text, true), expected);
    }
}

#[test]
fn markup_in_a_name_is_only_text() {
    for (text, expected) in [
        ("a | b\n`c`", "a \\| b \\`c\\`"),
        ("<img src=x>", "&lt;img src=x>"),
        ("[x](javascript:y)", "\\[x\\](javascript:y)"),
        ("\u{1b}[2J", "\\\\u001b\\[2J"),
    ] {
        assert_eq!(for_markdown(text), expected);
    }
}

#[test]
fn markup_in_a_page_is_only_text() {
    for (text, expected) in [
        ("</script><b a='x'>", "&lt;/script&gt;&lt;b a=&#39;x&#39;&gt;"),
        ("\"&amp;\"", "&quot;&amp;amp;&quot;"),
        ("a\0\u{202e}b\u{ffff}", "a\\u0000\\u202eb\u{fffd}"),
    ] {
        assert_eq!(for_html(text), expected);
    }
}

#[test]
fn a_formula_is_text_and_a_number_a_number() {
    for (text, cell) in [
        ("=1+1", "'=1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-x", "'-x"),
        ("-1.5", "-1.5"),
        ("+3e-2", "+3e-2"),
        ("", ""),
        ("a=b", "a=b"),
    ] {
        assert_eq!(for_cell(text), cell);
    }
}
