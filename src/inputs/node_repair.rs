//! Reads the node repair settings, which Fleets and scenarios share.

use super::text::diagnostic::DiagnosticReport;
use super::text::node::YamlNode;
use super::{dist, read};
use sim_api::spec::{DiagnosisSpec, ExposureSpec, RepairSpec, RepairStage, RetirementSpec};
use sim_base::Duration;

/// Reads `ages`: when the component accumulates age. Fleets and scenarios share this field.
pub fn exposure(node: &YamlNode) -> Option<ExposureSpec> {
    Some(match read::string(node, "ages")?.as_str() {
        "Always" => ExposureSpec::Always,
        "Assigned" => ExposureSpec::Assigned,
        _ => ExposureSpec::Running,
    })
}

/// Reads `diagnosis`: which node a failure sends to repair. Fleets and scenarios share this field.
pub fn diagnosis(node: Option<&YamlNode>) -> DiagnosisSpec {
    let chance = |key: &str, otherwise| {
        let result = node.and_then(|node| read::number(node, key));
        result.unwrap_or(otherwise)
    };
    DiagnosisSpec {
        repair_probability: chance("probability", 1.0),
        misdiagnosis_probability: chance("uncertainty", 0.0),
    }
}

/// Reads the repair stages and the number of crews. Fleets and scenarios share these fields.
pub fn repair(repair: Option<&YamlNode>, report: &mut DiagnosticReport) -> RepairSpec {
    let stages = repair.map_or(&[][..], |r| read::list(r, "stages"));
    let last = stages.len().saturating_sub(1);
    let stage = |(i, stage): (usize, &YamlNode)| {
        let escalates = read::number(stage, "escalates").unwrap_or(0.0);
        if i == last && escalates > 0.0 {
            let place = stage.get("escalates").map_or(stage.at, |e| e.at);
            report.error(place, "the last stage cannot escalate: no stage follows it");
        }
        let name = read::string(stage, "name").unwrap_or_default();
        if stages[..i].iter().any(|known| read::string(known, "name").as_ref() == Some(&name)) {
            let place = stage.get("name").map_or(stage.at, |name| name.at);
            report.error(place, format!("duplicate repair stage {name:?}"));
        }
        RepairStage {
            name,
            duration: dist::delay(Some(stage), "takes", report),
            escalates,
            fails: read::number(stage, "fails").unwrap_or(0.0),
        }
    };
    RepairSpec {
        stages: stages.iter().enumerate().map(stage).collect(),
        crews: repair.and_then(|r| read::u32_of(r, "crews")),
    }
}

/// Reads `retire`: when a repaired node is retired. Fleets and scenarios share this field.
pub fn retirement(repair: Option<&YamlNode>, report: &mut DiagnosticReport) -> RetirementSpec {
    let Some(node) = repair.and_then(|repair| repair.get("retire")) else {
        return RetirementSpec::Never;
    };
    let text = node.as_str().unwrap_or("");
    let parts: Vec<&str> = text.split(':').collect();
    let count = |text: &str| text.parse::<u32>().ok().filter(|n| *n > 0);
    let result = match parts[..] {
        ["never"] => Some(RetirementSpec::Never),
        ["life", n] => count(n).map(RetirementSpec::Life),
        ["window", n, within] => {
            let within = within.parse::<Duration>().ok().filter(|within| *within > Duration::ZERO);
            count(n).zip(within).map(|(n, within)| RetirementSpec::Window(n, within))
        }
        _ => None,
    };
    result.unwrap_or_else(|| {
        let legal = "never, window:FAILURES:DURATION such as window:3:7d, or life:FAILURES such as life:5";
        report.error(node.at, format!("{text:?} is not a valid retirement rule")).legal(legal);
        RetirementSpec::Never
    })
}
