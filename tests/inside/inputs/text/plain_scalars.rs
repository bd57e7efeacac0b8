//! Unit tests of `sim_inputs::text::plain_scalars`.

use super::*;
use crate::text::diagnostic::SourceText;
use crate::text::yaml::parse;

fn value(scalar: &str) -> YamlValue {
    let source = SourceText { file: "x.yaml".into(), text: format!("# é\na: {scalar}\n") };
    let mut documents = parse(&source).unwrap();
    documents.remove(0).get("a").map_or(YamlValue::Null, |node| node.value.clone())
}

#[test]
fn plain_scalars_have_the_types_that_kubectl_gives_them() {
    let string = |text: &str| YamlValue::Str(text.to_owned());
    for word in ["oN", "tRUE", "nO", "nULL", "45e7812", "1_x", "a_1", "-_", "0x_"] {
        assert_eq!(value(word), string(word), "{word}");
    }
    for (quoted, word) in [("\"1_0\"", "1_0"), ("'on'", "on"), ("\"oN\"", "oN")] {
        assert_eq!(value(quoted), string(word), "{quoted}");
    }
    for (word, number) in [("1__0", 10), ("-1_000", -1000), ("0x1_f", 31), ("0_17", 15), ("+2_0", 20)] {
        assert_eq!(value(word), YamlValue::Int(number), "{word}");
    }
    assert_eq!(value("685_230.15"), YamlValue::Float(685_230.15));
    assert_eq!(value(".inf"), YamlValue::Float(f64::INFINITY));
    for (word, is_true) in [("True", true), ("off", false), ("YES", true)] {
        assert_eq!(value(word), YamlValue::Bool(is_true), "{word}");
    }
    assert_eq!((value("~"), value("Null"), value("")), (YamlValue::Null, YamlValue::Null, YamlValue::Null));
}
