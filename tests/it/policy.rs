//! Policy cases as data: a view in a compact notation, the expected plan as lines, and the rules that the case
//! covers.
//!
//! `tests/it/policy/*.yaml` for JobSet passes, `jobs.yaml` for Job syncs. Notation: see `notation.rs`.

mod job_cases;
mod job_notation;
pub mod notation;
mod properties;
pub mod render;

use notation::Case;
use sim_policy::{ActionPlan, reconcile};

const FILES: [(&str, &str); 10] = [
    ("reconcile.yaml", include_str!("policy/reconcile.yaml")),
    ("creation.yaml", include_str!("policy/creation.yaml")),
    ("failure.yaml", include_str!("policy/failure.yaml")),
    ("restart_job.yaml", include_str!("policy/restart_job.yaml")),
    ("success.yaml", include_str!("policy/success.yaml")),
    ("startup.yaml", include_str!("policy/startup.yaml")),
    ("depends_on.yaml", include_str!("policy/depends_on.yaml")),
    ("suspend.yaml", include_str!("policy/suspend.yaml")),
    ("ttl.yaml", include_str!("policy/ttl.yaml")),
    ("in_place.yaml", include_str!("policy/in_place.yaml")),
];

/// Checks one case: the plan, the rules that it must cite, and that a reused plan contains nothing of its previous
/// use.
fn check(file: &str, case: &Case, reused: &mut ActionPlan) -> Result<(), String> {
    let at = format!("{file}: {}", case.name);
    let world = notation::world(case).map_err(|e| format!("{at}: {e}"))?;
    let view = world.view();
    let mut plan = ActionPlan::default();
    reconcile(&view, &mut plan);
    reconcile(&view, reused);
    let (got, again) = (render::plan(&view, &plan), render::plan(&view, reused));
    let want: Vec<&str> = case.plan.lines().map(str::trim_end).collect();
    if got != want {
        return Err(format!("{at}\n  expected:\n    {}\n  got:\n    {}", want.join("\n    "), got.join("\n    ")));
    }
    if got != again || plan.rules != reused.rules {
        return Err(format!("{at}: a reused plan differs: {again:?}"));
    }
    for rule in case.rules.iter().chain(&case.shows) {
        if !is_rule_id(rule) {
            return Err(format!("{at}: {rule} is not a rule id"));
        }
    }
    for rule in &case.rules {
        if !plan.rules.contains(&rule.as_str()) {
            return Err(format!("{at}: rule {rule} is not cited: {:?}", plan.rules));
        }
    }
    Ok(())
}

/// Returns whether the text is a rule id, such as `REC-9`, `C-26` or `COND-1e`: letters, a dash, a number,
/// optionally a letter.
fn is_rule_id(id: &str) -> bool {
    id.split_once('-').is_some_and(|(family, number)| {
        let number = number.trim_end_matches(|c: char| c.is_ascii_lowercase());
        family.chars().all(|c| c.is_ascii_uppercase()) && number.parse::<u32>().is_ok()
    })
}

#[test]
fn every_policy_case_gives_its_plan() {
    let mut reused = ActionPlan::default();
    let (mut names, mut wrong) = (Vec::new(), Vec::new());
    for (file, text) in FILES {
        let cases: Vec<Case> = serde_yaml::from_str(text).unwrap_or_else(|e| panic!("{file} does not parse: {e}"));
        for case in &cases {
            wrong.extend(check(file, case, &mut reused).err());
            assert!(!names.contains(&case.name), "{file}: duplicate case name: {}", case.name);
            names.push(case.name.clone());
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases differ\n\n{}", wrong.len(), names.len(), wrong.join("\n\n"));
}
