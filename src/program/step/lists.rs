//! Lists of objects in the format of `kubectl get`.

use super::describe::{on_node, plain};
use super::known_state::KnownState;
use serde_json::Value;
use sim_engine::record::NodeReady;
use std::fmt::Write;

pub fn nodes(names: &[String], objects: &[Value], known: &KnownState) -> String {
    let mut rows = vec![["NAME", "READY", "PODS"].map(str::to_owned)];
    for name in names {
        let of = known.nodes.get(&format!("node/{name}"));
        let ready = match of {
            Some(of) if of.gone => continue,
            Some(of) => of.ready.map_or(NodeReady::True, |(ready, _)| ready),
            None => NodeReady::True,
        };
        let pods = on_node(objects, name).count().to_string();
        rows.push([name.clone(), ready.as_str().to_owned(), pods]);
    }
    table(&rows)
}

pub fn list(kind: &str, objects: &[Value], known: &KnownState) -> String {
    let result = objects.iter().filter(|o| o["kind"] == kind);
    let name = |o: &Value| plain(&o["metadata"]["name"]);
    let number = |value: &Value| value.as_i64().unwrap_or(0).to_string();
    let head: [&str; 4] = match kind {
        "JobSet" => ["NAME", "TERMINALSTATE", "RESTARTS", "SUSPENDED"],
        "Job" => ["NAME", "COMPLETIONS", "READY", "FAILED"],
        "Pod" => ["NAME", "READY", "STATUS", "NODE"],
        _ => ["NAME", "", "", ""],
    };
    let mut rows = vec![head.map(str::to_owned)];
    for o in result {
        let (spec, status) = (&o["spec"], &o["status"]);
        rows.push(match kind {
            "JobSet" => [
                name(o),
                status["terminalState"].as_str().unwrap_or("").to_owned(),
                number(&status["restarts"]),
                spec["suspend"].as_bool().unwrap_or(false).to_string(),
            ],
            "Job" => {
                let completions = format!("{}/{}", number(&status["succeeded"]), plain(&spec["completions"]));
                [name(o), completions, number(&status["ready"]), number(&status["failed"])]
            }
            "Pod" => {
                let namespace = o["metadata"]["namespace"].as_str().unwrap_or("default");
                let of = known.pods.get(&format!("pod/{namespace}/{}", name(o)));
                let phase = match of.and_then(|of| of.deleting) {
                    Some(_) => "Terminating".to_owned(),
                    None => plain(&status["phase"]),
                };
                let ready = of.is_some_and(|of| of.ready).to_string();
                [name(o), ready, phase, spec["nodeName"].as_str().unwrap_or("<none>").to_owned()]
            }
            _ => [name(o), String::new(), String::new(), String::new()],
        });
    }
    table(&rows)
}

fn table<const N: usize>(rows: &[[String; N]]) -> String {
    if rows.len() == 1 {
        return "no objects\n".to_owned();
    }
    let widths: Vec<usize> = (0..N).map(|i| rows.iter().map(|r| r[i].len()).max().unwrap_or(0)).collect();
    let mut out = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join("   ");
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}
