//! Unit tests of `sim_inputs::traces`.

use super::*;

fn read(text: &str) -> (Vec<TraceRow>, Vec<Diagnostic>) {
    rows(&SourceText { file: "faults.csv".to_owned(), text: text.to_owned() })
}

#[test]
fn csv_and_json_lines_say_the_same() {
    let csv = "time,node,kind,duration\n90,\"a-0\", Crash,1h\n\n2h,a-1,,\n";
    let json = "{\"node\": \"a-0\", \"time\": 90, \"kind\": \"Crash\", \"duration\": \"1h\"}\n\
                {\"node\": \"a-1\", \"time\": \"2h\", \"kind\": null}\n";
    for text in [csv, json] {
        let (rows, errors) = read(text);
        assert_eq!(errors, [], "{text}");
        let output = |r: &TraceRow| {
            let lasts = r.lasts.map_or("-".to_owned(), |lasts| lasts.to_string());
            format!("{} {} {} {lasts}", r.name, r.at, r.kind.as_deref().unwrap_or("-"))
        };
        let output: Vec<String> = rows.iter().map(output).collect();
        assert_eq!(output, ["a-0 1m30s Crash 1h", "a-1 2h - -"], "{text}");
    }
}

#[test]
fn what_is_not_a_fault_is_rejected_with_its_line() {
    for (text, line, part) in [
        ("time,node\n1,a,b\n", 2, "3 values"),
        ("time,node\n\n-1,a\n", 3, "not a time"),
        ("time,where\n1,a\n", 1, "unknown column"),
        ("{\"time\": 1, \"where\": \"a\"}", 1, "unknown column"),
        ("node\na\n", 2, "and a time"),
        ("{\"node\": \"a\"\n", 1, "not a JSON object"),
    ] {
        let (_, errors) = read(text);
        assert_eq!(errors[0].line, line, "{text}");
        assert!(errors[0].message.contains(part), "{text}: {}", errors[0].message);
    }
}
