//! What the program says and how it ends, as those who type see it: exit codes, placement, words.

use std::process::Command;

/// Manifests, topologies and scenarios of these tests.
const INPUTS: &str = "tests/it/words";

/// Exit code, standard output, standard error.
fn told(line: &str) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jobset-sim"));
    let words: Vec<String> = line.split(' ').map(|w| w.replace('@', INPUTS)).collect();
    command
        .args(words)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("NO_COLOR");
    let output = command.output().expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().unwrap_or(-1);
    (code, text(&output.stdout), text(&output.stderr))
}

#[test]
fn what_cannot_be_placed_is_exit_code_4_however_it_comes_about() {
    let cases = [
        // Before the run: no such label, too few domains, domains too small, no room.
        (
            "run -f @/two-slices.yaml -t topologies/small-16.yaml",
            "no node has the label",
        ),
        (
            "run -f @/two-slices.yaml -t @/one-slice.topology.yaml",
            "JobSet tight has 2 Jobs",
        ),
        (
            "run -f @/two-slices.yaml -t @/short-slices.topology.yaml",
            "has 4 pods, and a domain",
        ),
        (
            "run -f @/crowd.yaml -t @/one-slice.topology.yaml",
            "the empty cluster holds",
        ),
        // Only the run can tell: containers end, but not those that are in the way.
        (
            "run @/never-placed.scenario.yaml",
            "JobSet tight could never be placed: pod tight-slice-",
        ),
        (
            "run @/never-placed.scenario.yaml --seeds 3",
            "in none of the replications: JobSet tight",
        ),
        ("lint -f @/two-slices.yaml -t @/one-slice.topology.yaml", ""),
    ];
    for (line, why) in cases {
        let (code, out, err) = told(line);
        assert_eq!(code, 4, "{line}\n{out}\n{err}");
        assert!(err.contains(why), "{line}: {err}");
    }
    let (code, _, err) = told("run -f @/two-slices.yaml -t @/spare-slice.topology.yaml");
    assert_eq!(code, 0, "{err}");
}

#[test]
fn lint_ends_with_a_code_for_errors_and_for_gates() {
    for (line, code) in [
        ("lint -f @/two-slices.yaml", 0),
        (
            "lint -f @/two-slices.yaml -t @/spare-slice.topology.yaml",
            0,
        ),
        (
            "lint -f @/two-slices.yaml -t @/one-slice.topology.yaml --fail-if lint.errors>0",
            5,
        ),
        ("lint -f @/malformed-key.yaml", 2),
    ] {
        assert_eq!(told(line).0, code, "{line}");
    }
}

/// Whether a run that loses a node ends stuck, in some replication.
fn ends_stuck(topology: &str) -> bool {
    let line = format!("run @/lost-node.scenario.yaml --set topology={topology} --seeds 20");
    let (code, out, err) = told(&line);
    assert_eq!(code, 0, "{err}");
    out.contains("Stuck")
}

#[test]
fn lint_warns_of_the_loss_of_a_node_where_runs_end_stuck_and_nowhere_else() {
    for (topology, trap) in [
        ("two-slices.topology.yaml", Some("no-spare-domain")),
        ("spare-slice.topology.yaml", Some("spare-domain-missed")),
        ("spare-nodes.topology.yaml", None),
    ] {
        let (_, out, _) = told(&format!("lint -f @/two-slices.yaml -t @/{topology}"));
        let warned = ["no-spare-domain", "spare-domain-missed"]
            .into_iter()
            .find(|t| out.contains(*t));
        assert_eq!(warned, trap, "{topology}: {out}");
        assert_eq!(ends_stuck(topology), trap.is_some(), "{topology}");
    }
}
