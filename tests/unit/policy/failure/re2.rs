//! Tests of `sim_policy::failure::re2`.

use sim_policy::failure::re2::*;
#[test]
fn patterns_are_read_as_go_reads_them() {
    for (pattern, message, result, sentence) in [
        ("exit code 3", "failed with exit code 3 matching", true, "the search is unanchored"),
        ("^exit", "failed with exit", false, "anchors are respected"),
        (r"code \d+", "code 42", true, "digits"),
        (r"^\d$", "٣", false, "only ASCII digits are digits"),
        (r"^\W$", "é", false, "a letter of two bytes is not one byte"),
        (r"^[\D]", "x", true, "a negated class inside a class"),
        (r"a[\w.]+c", "a_.c", true, "word characters inside a class"),
        ("(?i)BACKOFF", "backoffLimit", true, "case folding"),
        (r#"{"code": 3}"#, r#"got {"code": 3}"#, true, "a brace that is not a repetition"),
        ("o{2}", "foo", true, "a brace that is a repetition"),
        (r"\Q(a+b)\E!", "(a+b)!", true, "quoted text"),
        ("[[]x", "[x", true, "an opening bracket inside a class"),
        ("[]]x", "]x", true, "a closing bracket first in a class"),
        ("[[:digit:]]+$", "abc7", true, "a named class"),
        ("[a&&b]", "&", true, "Go has no set operations"),
        (r"\<pod\>", "<pod>", true, "escaped angle brackets are literal"),
        (r"\p{Lu}od", "Éod", true, "Unicode classes"),
        (r"^\x{2603}$", "\u{2603}", true, "a code point in braces"),
        (r"^\p{Latin}+$", "É", true, "Unicode scripts"),
        ("^[+--]$", ",", true, "a range up to a dash"),
        ("^[--/]$", ".", true, "a range from a dash"),
        ("^a+?b*?$", "aab", true, "lazy repetitions"),
        ("^(a{2}){3}$", "aaaaaa", true, "a repeated group"),
        ("^(?sU:.)$", "\n", true, "flags"),
        ("", "anything", true, "the empty pattern matches everything"),
    ] {
        let re = compile(pattern).unwrap_or_else(|| panic!("{sentence}: does not compile"));
        assert_eq!(re.is_match(message.as_bytes()), result, "{sentence}");
    }
}

#[test]
fn what_go_cannot_compile_never_matches() {
    for pattern in ["(", "a**b(", "[z-a]", r"\", "(?=x)", "x{2,1}", "*"] {
        assert!(compile(pattern).is_none(), "{pattern}");
    }
    // The crate accepts these.
    for pattern in [
        "a**", "has++ reached", "x{2}{3}", "a*??", "(?x) backoff", "(?u)a", "(?R)a", ".{1001}", "(a{100}){100}",
        "[a--b]",
    ] {
        assert!(compile(pattern).is_none(), "{pattern}");
    }
}
