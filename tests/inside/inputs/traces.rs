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

#[test]
fn absolute_times_are_relative_to_the_start_and_ends_give_durations() {
    let csv = "node,start,end\nx,2026-02-28T23:59:30Z,2026-03-01T00:00:30.5Z\ny,2026-03-01T01:00:00+01:00,\n";
    let json = "{\"node\": \"x\", \"time\": \"2026-02-28T23:59:30Z\", \"duration\": \"1m0.5s\"}\n\
                {\"node\": \"y\", \"time\": \"2026-03-01T00:00:00Z\"}\n";
    for (start, expected) in [
        (None, vec![("x", "0s", Some("1m500ms")), ("y", "30s", None)]),
        (Some("2026-02-28T23:59:00Z"), vec![("x", "30s", Some("1m500ms")), ("y", "1m", None)]),
        (Some("2026-02-28T23:59:45Z"), vec![("y", "15s", None)]),
    ] {
        for text in [csv, json] {
            let (rows, errors) = read(text);
            assert_eq!(errors, [], "{text}");
            let settings = TraceSettings { start: start.and_then(clock::timestamp), ..TraceSettings::default() };
            let mut trace = FaultTrace { rows, settings, ..FaultTrace::default() };
            assert!(clock::make_relative(&mut trace).is_none());
            assert_eq!(trace.omitted, 2 - expected.len(), "{text}");
            let faults: Vec<(&str, String, Option<String>)> = trace
                .rows
                .iter()
                .map(|r| (r.name.as_str(), r.at.to_string(), r.lasts.map(|d| d.to_string())))
                .collect();
            let expected: Vec<(&str, String, Option<String>)> =
                expected.iter().map(|(n, at, d)| (*n, (*at).to_owned(), d.map(str::to_owned))).collect();
            assert_eq!(faults, expected, "{text}");
        }
    }
    let text = "node,time\nx,2026-02-28T23:59:30Z\ny,90\n";
    let (rows, _) = read(text);
    let mut trace = FaultTrace { rows, ..FaultTrace::default() };
    assert!(clock::make_relative(&mut trace).is_some(), "{text}");
    assert_eq!(clock::timestamp("1970-01-02T00:00:01.25Z"), Some(Duration(86_401_250_000_000)));
    for wrong in ["2026-13-01T00:00:00Z", "2026-01-01T00:00:00", "2026-01-01", "90", "é026-01-01T00:00:00Z"] {
        assert_eq!(clock::timestamp(wrong), None, "{wrong}");
    }
    let (_, errors) = read("node,start,end\nx,100,50\n");
    assert!(errors[0].message.contains("not a time after the start"), "{}", errors[0].message);
}
