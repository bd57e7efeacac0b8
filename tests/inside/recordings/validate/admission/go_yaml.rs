//! Unit tests of `sim_recordings::validate::admission::go_yaml`.

use super::*;
use crate::validate::simulate::yaml;

#[test]
fn errors_are_worded_and_located_as_by_the_parser_of_the_api_server() {
    for (text, expected) in [
        ("a: 1\nb:\n  c: 2\n  @d: 3\n", "yaml: line 4: found character that cannot start any token"),
        ("a: 1\n\tb: 2\n", "yaml: line 2: found a tab character that violates indentation"),
        ("a:\n\tb: 2\n", "yaml: line 2: found character that cannot start any token"),
        ("@a: 1\n", "yaml: found character that cannot start any token"),
        ("a: 1\nb: c: 2\n", "yaml: line 2: mapping values are not allowed in this context"),
    ] {
        let error = yaml(text).expect_err("the text is not valid YAML");
        assert_eq!(go_yaml_error(&error), expected, "{text:?}: {}", error.0[0].message);
    }
}
