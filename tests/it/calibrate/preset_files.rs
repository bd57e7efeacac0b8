//! The preset file that `recording calibrate` writes, as an input of other commands.

use super::*;

#[test]
fn a_preset_file_is_written_named_by_a_scenario_and_kept_with_its_run() {
    let dir = scratch("calibrate");
    let preset = dir.join("mine.yaml");
    let recording = files(&root().join("tests/recordings/times"), "json");
    let recording = recording.iter().find(|p| p.ends_with("t20-r-4x50.json")).or(recording.first());
    let recording = recording.expect("a recording").display().to_string();
    let metrics = "tests/recordings/kubectl/apiserver-metrics.txt";
    let run = |words: &[&str]| program(words).output().expect("the program runs");
    let display_path = preset.display().to_string();
    let done =
        run(&["recording", "calibrate", &recording, "--metrics", metrics, "--base", "stock", "--out", &display_path]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let again = run(&["recording", "calibrate", &recording, "--out", &display_path]);
    assert_eq!(again.status.code(), Some(2), "an existing file is not overwritten");
    let source = sim_inputs::read_source(&preset).expect("the preset was written");
    let (plane, _) = sim_inputs::read_preset(&source).expect("the preset is valid");
    assert!(plane.kube_controller_manager.qps > 5.0);
    // Fields that the scenario sets override those of the preset file.
    std::fs::write(dir.join("jobset.yaml"), JOBSET).expect("the file can be written");
    let text = PLANTED.replace("preset: stock, kubeControllerManager: {qps: QPS, burst: BURST}", "preset: mine.yaml");
    let text = text.replace("MEDIAN", "2").replace("SIGMA", "0.1");
    let scenario = dir.join("s.yaml");
    std::fs::write(&scenario, text).expect("the file can be written");
    let loaded = sim_inputs::read_scenario(&scenario, &[]).expect("a scenario");
    assert_eq!(loaded.scenario.control_plane.kube_controller_manager, plane.kube_controller_manager);
    assert_eq!(loaded.scenario.control_plane.kube_scheduler.qps, 500.0);
    assert!(loaded.inputs.iter().any(|(name, _)| name == "mine.yaml"));
    // With a manifest alone, `--set` names the preset, and the preset is saved with the run.
    let (jobset, out) = (dir.join("jobset.yaml").display().to_string(), dir.join("run"));
    let named = format!("controlPlane.preset={display_path}");
    let directory = out.display().to_string();
    let done = run(&["run", "-f", &jobset, "--set", &named, "--out", &directory]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let kept = std::fs::read_to_string(out.join("inputs/preset.yaml")).expect("the preset is saved");
    assert_eq!(kept, source.text);
    let summary = |words: &[&str]| -> Json {
        let done = run(words);
        serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{e}: {done:?}"))
    };
    let json = ["--format", "json"];
    let own = summary(&[&["run", "-f", &jobset, "--set", &named], &json[..]].concat());
    let other = summary(&[&["run", "-f", &jobset], &json[..]].concat());
    assert_ne!(own["digest"], other["digest"]);
    let done =
        run(&["recording", "replay", &directory, "--counterfactual", "controlPlane.kubeControllerManager.qps=500"]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    // A recorded restart can be replayed with the preset or with other API server times. Container times cannot be
    // changed, because they are part of the incident.
    let replayed = |change: &str| run(&["recording", "replay", &recording, "--counterfactual", change]);
    for change in
        [named.as_str(), "timing.apiPodCreate=1s", "controlPlane.kubernetes='1.30'", "controlPlane.preset=scale-test"]
    {
        let done = replayed(change);
        assert_eq!(done.status.code(), Some(0), "{change}: {done:?}");
    }
    let done = replayed("timing.containerStart=1s");
    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&done.stderr).contains("is the incident itself"), "{done:?}");
    let validated = run(&["validate", &recording, "--preset", &display_path, "--format", "json"]);
    assert_eq!(validated.status.code(), Some(0), "{validated:?}");
    let json: Json = serde_json::from_slice(&validated.stdout).expect("JSON");
    let off = json["recordings"][0]["restart"]["error"].as_f64().expect("an error");
    assert!(off.abs() < 0.1, "{off}");
    // A wrong value is reported at its position in the preset file.
    let wrong = source.text.replacen("qps:", "qpps:", 1);
    std::fs::write(&preset, wrong).expect("the file can be written");
    let printed = sim_inputs::read_scenario(&scenario, &[]).expect_err("the preset is rejected").to_string();
    assert!(printed.contains("mine.yaml:") && printed.contains("qpps"), "{printed}");
    std::fs::remove_dir_all(&dir).expect("the directory can be removed");
}
