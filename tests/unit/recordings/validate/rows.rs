//! Tests of `sim_recordings::validate::rows`.

use serde_json::Value;
use sim_recordings::validate::rows::*;
#[test]
fn a_log_row_may_lack_its_detail() {
    let rows: Vec<LogEntry> =
        serde_json::from_str(r#"[[5,"JobSet","js","created"],[6,"JobSet","js","status",{"restarts":1}]]"#).unwrap();
    assert_eq!(rows[0].detail, Value::Null);
    assert_eq!(rows[1].detail["restarts"], 1);
    assert!(serde_json::from_str::<LogEntry>("[5,\"JobSet\"]").is_err());
}

#[test]
fn pod_columns_are_found_by_name_and_minus_one_is_never() {
    let columns = r#"["goneMs","replicatedJob","jobIndex","podIndex","restartAttempt","node","createdMs","finishedMs","deletingMs","phase","containerRestarts"]"#;
    let read = |row: &str| {
        let text = format!(r#"{{"podColumns":{columns},"pods":[{row}]}}"#);
        serde_json::from_str::<RecordedPods>(&text).map_err(|e| e.to_string())
    };
    let pods = read(r#"[9,"w",1,2,3,"n",4,-1,-1,"Running",2]"#).unwrap();
    let pod = &pods.0[0];
    assert_eq!((pod.gone_ms, pod.finished_ms, pod.restart_attempt), (Some(9), None, 3));
    assert!(read(r#"[9,"w",1,"x",3,"n",4,-1,-1,"Running",2]"#).unwrap_err().contains("podIndex"));
}
