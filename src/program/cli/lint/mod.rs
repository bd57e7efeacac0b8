//! `lint`: checks manifests for errors that the API server rejects and for problems that it accepts.

pub mod args;
mod lint_output;
mod sarif;

use crate::cli::failure::{Failure, bail};
use crate::cli::inputs::{experiment_input, feature_gates};
use crate::cli::lint::args::{LintArgs, LintFormat, LintMethod};
use crate::cli::output;
use lint_output::Shape;
use sim_api::spec::{FeatureGates, JobSet, Version};
use sim_base::condition::{Condition, Limit};
use sim_inputs::Diagnostics;
use sim_inputs::kube;
use sim_inputs::kube::inspect;
use sim_inputs::kube::inspect::Inspected;
use sim_lint::{Inputs, Method, Report, Severity, Target};

const REJECTED: u8 = 2;
/// Exit code for manifests that are accepted but have a finding of severity error.
const INVALID: u8 = 2;
/// Exit code if the cluster of `-t` cannot hold the pods.
const NO_PLACE: u8 = 4;
const GATE_FAILED: u8 = 5;

pub fn cli(args: &LintArgs) -> Result<u8, Failure> {
    if args.list {
        return table(args);
    }
    if let Some(name) = &args.explain {
        let trap = sim_lint::table::named(name).ok_or_else(|| unknown(name))?;
        match args.format {
            LintFormat::Json => output::result(&lint_output::trap_json(trap.name)?)?,
            _ => output::text(&sim_lint::docs::explain(trap))?,
        }
        return Ok(0);
    }
    let fail_if: Vec<LintGate> = fail_if(args)?;
    let files = files(&args.manifests, args.quiet)?;
    something(&files)?;
    let old = match args.update.is_empty() {
        true => None,
        false => Some(files_of_update(&args.update, args.quiet)?),
    };
    let topology = match &args.topology {
        Some(path) => Some(experiment_input::topology(path)?.1),
        None => None,
    };
    let target = target(args, &files)?;
    let how = args.method.unwrap_or_default().into();
    let report = sim_lint::lint(&Inputs {
        files: &files,
        topology: topology.as_ref(),
        update: old.as_ref().map(|files| (files.as_slice(), how)),
        target,
    });
    if let (Some(old), false) = (&old, args.quiet) {
        strangers(&files, old);
    }
    let style = output::style(&args.look);
    let shape = Shape {
        color: style.color,
        width: style.width,
        verbose: !args.quiet,
    };
    let text = lint_output::render(args.format, &report, &shape)?;
    match args.format {
        LintFormat::Text => output::styled(&text, &style)?,
        _ => output::result(&text)?,
    }
    Ok(code(&report, &fail_if))
}

/// Returns the exit code. Failed gates take precedence over findings of severity error.
fn code(report: &Report, gates: &[LintGate]) -> u8 {
    if report.rejected() > 0 {
        return REJECTED;
    }
    if gates.iter().any(|gate| gate.failed(report)) {
        return GATE_FAILED;
    }
    let errors = || {
        let all = report.findings.iter();
        all.filter(|f| f.severity == Severity::Error)
    };
    let of_cluster = |name: &str| {
        let trap = sim_lint::table::named(name);
        trap.is_some_and(|t| {
            matches!(
                t.check,
                sim_lint::Check::Cluster(_) | sim_lint::Check::ClusterTogether(_)
            )
        })
    };
    match errors().all(|f| of_cluster(f.name)) {
        _ if errors().next().is_none() => 0,
        true => NO_PLACE,
        false => INVALID,
    }
}

fn table(args: &LintArgs) -> Result<u8, Failure> {
    let text = match args.format {
        LintFormat::Md => sim_lint::docs::markdown(),
        LintFormat::Json => lint_output::table_json()?,
        LintFormat::Csv => lint_output::table_csv(),
        LintFormat::Sarif => lint_output::table_sarif()?,
        LintFormat::Text => {
            output::text(&sim_lint::docs::list())?;
            return Ok(0);
        }
    };
    output::result(&text)?;
    Ok(0)
}

fn unknown(name: &str) -> Failure {
    let known = sim_lint::table::all().map(|t| t.name);
    let near = sim_inputs::nearest(name, known);
    let hint = match near {
        Some(near) => format!("did you mean {near:?}?"),
        None => "lint --list names all".to_owned(),
    };
    Failure::Invalid(format!("there is no trap {name:?}; {hint}"))
}

fn files(paths: &[String], quiet: bool) -> Result<Vec<Inspected>, Failure> {
    let (sources, left_out, mut errors) = experiment_input::manifest_sources(paths);
    let files = match inspect::inspect_all(&sources) {
        Ok(files) if errors.is_empty() => files,
        read => {
            errors.extend(read.err().map_or(Vec::new(), |Diagnostics(found)| found));
            return Err(Diagnostics(errors).into());
        }
    };
    if !left_out.is_empty() && !quiet {
        output::note(&format!("not read: {}", left_out.join(", ")));
    }
    Ok(files)
}

/// Returns an error if the files contain neither a JobSet nor invalid objects.
fn something(files: &[Inspected]) -> Result<(), Failure> {
    let mut objects = files.iter().flat_map(|f| &f.objects);
    if objects.any(|o| o.jobset.is_some() || !o.errors.is_empty()) {
        return Ok(());
    }
    let kinds = files
        .iter()
        .flat_map(|f| &f.objects)
        .map(|o| o.kind.as_str());
    let kinds: std::collections::BTreeSet<&str> = kinds.collect();
    let kinds: Vec<String> = kinds.into_iter().map(str::to_owned).collect();
    let mut places = files.iter().filter_map(|f| Some((f, f.objects.first()?)));
    let first = places.next();
    let place = first.map(|(file, object)| kube::place_of_kind(&file.source, &object.node));
    let error = kube::no_jobset("check", place, &kinds);
    Err(Diagnostics::from(error).into())
}

fn files_of_update(paths: &[String], quiet: bool) -> Result<Vec<Inspected>, Failure> {
    let files = files(paths, quiet)?;
    let jobsets = files
        .iter()
        .flat_map(|f| &f.objects)
        .filter(|o| o.jobset.is_some());
    match jobsets.count() {
        0 => Err(Failure::Invalid(
            "--update: there is no JobSet in it".to_owned(),
        )),
        _ => Ok(files),
    }
}

/// Prints a note for JobSets that are not in `--update`; these are linted as creations.
fn strangers(files: &[Inspected], old: &[Inspected]) {
    let key = |j: &JobSet| format!("{}/{}", j.namespace, j.name);
    let names = |files: &[Inspected]| -> Vec<String> {
        let objects = files.iter().flat_map(|f| &f.objects);
        objects.filter_map(|o| o.jobset.as_ref().map(key)).collect()
    };
    let known = names(old);
    for name in names(files).iter().filter(|n| !known.contains(n)) {
        output::notice(&format!(
            "note: JobSet {name} is not in --update; it is checked as a new one"
        ));
    }
}

fn target(args: &LintArgs, files: &[Inspected]) -> Result<Target, Failure> {
    let kubernetes = args.kubernetes.as_deref().map(kubernetes).transpose()?;
    if let Some(version) = args.jobset.as_deref()
        && !["0.12", "0.13"].contains(&version.trim_start_matches('v'))
    {
        bail!("JobSet {version:?} is not known; legal: 0.12, 0.13");
    }
    let jobsets = files.iter().flat_map(|f| &f.objects);
    // Feature gates that a JobSet needs are enabled, as in `run`.
    let needed = FeatureGates::needed_by(jobsets.filter_map(|o| o.jobset.as_ref()));
    let gates = feature_gates::read(needed, &args.feature_gates)?;
    Ok(Target {
        kubernetes: kubernetes.unwrap_or(sim_inputs::DEFAULT_VERSION),
        gates,
    })
}

fn kubernetes(text: &str) -> Result<Version, Failure> {
    let read = sim_inputs::kubernetes_version(text);
    read.map_err(|why| Failure::Invalid(format!("--kubernetes: {why}")))
}

/// A gate on the number of findings, such as `lint.warnings > 0`.
struct LintGate {
    count: Count,
    condition: Condition,
}

impl LintGate {
    fn failed(&self, report: &Report) -> bool {
        let held = self.condition.holds((self.count)(report) as f64, None);
        held.is_ok_and(|verdict| verdict.failed)
    }
}

type Count = fn(&Report) -> usize;

const COUNTS: [(&str, Count); 4] = [
    ("lint.rejected", Report::rejected),
    ("lint.errors", |r| r.traps(Severity::Error)),
    ("lint.warnings", |r| r.traps(Severity::Warning)),
    ("lint.traps", |r| {
        r.traps(Severity::Error) + r.traps(Severity::Warning)
    }),
];

fn fail_if(args: &LintArgs) -> Result<Vec<LintGate>, Failure> {
    let strict = args.strict.then(|| gate("lint.traps > 0"));
    let given = args.fail_if.iter().map(|text| gate(text));
    strict.into_iter().chain(given).collect()
}

fn gate(text: &str) -> Result<LintGate, Failure> {
    let condition: Condition = text.parse()?;
    let count = COUNTS.iter().find(|(known, _)| *known == condition.name);
    let unknown = || condition.unknown(COUNTS.iter().map(|c| c.0));
    let (_, count) = *count.ok_or_else(unknown)?;
    match condition.limit {
        Limit::Absolute(limit) if limit >= 0.0 && limit.fract() == 0.0 => {
            Ok(LintGate { count, condition })
        }
        _ => Err(Failure::Invalid(format!(
            "--fail-if {text:?}: the limit is no whole number"
        ))),
    }
}

impl From<LintMethod> for Method {
    fn from(method: LintMethod) -> Method {
        match method {
            LintMethod::Apply => Method::Apply,
            LintMethod::Replace => Method::Replace,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_is_a_name_an_operator_and_a_number() {
        for (text, ok) in [
            ("lint.warnings > 0", true),
            ("lint.errors>=1", true),
            ("lint.traps == 3", true),
            ("warnings > 0", false),
            ("lint.errors", false),
            ("lint.errors = 1", false),
            ("lint.errors > 1.5", false),
            ("lint.errors > -1", false),
        ] {
            assert_eq!(gate(text).is_ok(), ok, "{text}");
        }
        let report = Report::default();
        assert!(!gate("lint.errors > 0").unwrap().failed(&report));
        assert!(gate("lint.errors >= 0").unwrap().failed(&report));
    }

    #[test]
    fn versions_of_kubernetes_have_two_or_three_parts() {
        for (text, minor_of) in [
            ("1.36", Some(36)),
            ("v1.34.2", Some(34)),
            ("1", None),
            ("2.0", None),
            ("1.20", None),
        ] {
            let read = kubernetes(text).ok();
            assert_eq!(read, minor_of.map(Version::new), "{text}");
        }
    }
}
