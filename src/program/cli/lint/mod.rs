//! `lint`: checks manifests for errors that the API server rejects and for problems that it accepts.

pub mod args;
mod lint_output;
mod sarif;

use crate::cli::failure::{CommandFailure, bail};
use crate::cli::inputs::{experiment_input, feature_gates};
use crate::cli::lint::args::{LintArgs, LintFormat, LintMethod};
use crate::cli::output;
use lint_output::LintLayout;
use sim_api::spec::{FeatureGates, JobSet, KubeVersion};
use sim_base::condition::{ConditionLimit, FieldCondition};
use sim_inputs::kube;
use sim_inputs::kube::inspect;
use sim_inputs::kube::inspect::InspectedManifest;
use sim_inputs::{Diagnostics, SourceText};
use sim_lint::{LintInputs, LintReport, NodeTarget, TrapSeverity, UpdateMethod};

const REJECTED: u8 = 2;
/// Exit code for manifests that are accepted but have a finding of severity error.
const INVALID: u8 = 2;
/// Exit code if the cluster of `-t` cannot hold the pods.
const NO_PLACE: u8 = 4;
const GATE_FAILED: u8 = 5;

pub fn cli(args: &LintArgs) -> Result<u8, CommandFailure> {
    if args.list {
        return table(args);
    }
    if let Some(name) = &args.explain {
        let trap = sim_lint::trap_table::named(name).ok_or_else(|| unknown(name))?;
        match args.format {
            LintFormat::Json => output::result(&lint_output::trap_json(&trap.name)?)?,
            _ => output::text(&sim_lint::docs::explain(trap))?,
        }
        return Ok(0);
    }
    let fail_if: Vec<LintGate> = fail_if(args)?;
    let (files, sources) = files(&[&args.manifests[..], &args.files].concat(), args.quiet)?;
    require_jobsets(&files)?;
    let old = if args.update.is_empty() { None } else { Some(files_of_update(&args.update, args.quiet)?) };
    let topology = match &args.topology {
        Some(path) => Some(experiment_input::topology(path)?.1),
        None => None,
    };
    let target = target(args, &files)?;
    let how = args.method.unwrap_or_default().into();
    let report = sim_lint::lint(&LintInputs {
        files: &files,
        sources: &sources,
        topology: topology.as_ref(),
        update: old.as_ref().map(|files| (files.as_slice(), how)),
        target,
    });
    if let (Some(old), false) = (&old, args.quiet) {
        note_unknown_jobsets(&files, old);
    }
    if let Some(why) = report.not_simulated.as_ref().filter(|_| !args.quiet) {
        output::note(&format!("note: the JobSets were not simulated on the cluster: {why}"));
    }
    let style = output::style(&args.display);
    let shape = LintLayout { color: style.color, width: style.width, verbose: !args.quiet };
    let text = lint_output::render(args.format, &report, &shape)?;
    match args.format {
        LintFormat::Text => output::styled(&text, &style)?,
        _ => output::result(&text)?,
    }
    Ok(code(&report, &fail_if))
}

/// Returns the exit code. Failed gates take precedence over findings of severity error.
fn code(report: &LintReport, gates: &[LintGate]) -> u8 {
    if report.rejected() > 0 {
        return REJECTED;
    }
    if gates.iter().any(|gate| gate.failed(report)) {
        return GATE_FAILED;
    }
    let errors = || {
        let all = report.findings.iter();
        all.filter(|f| f.severity == TrapSeverity::Error)
    };
    let of_cluster = |name: &str| {
        let trap = sim_lint::trap_table::named(name);
        trap.is_some_and(|t| {
            matches!(t.check, sim_lint::TrapCheck::Cluster(_) | sim_lint::TrapCheck::ClusterTogether(_))
        })
    };
    match errors().all(|f| of_cluster(f.name)) {
        _ if errors().next().is_none() => 0,
        true => NO_PLACE,
        false => INVALID,
    }
}

fn table(args: &LintArgs) -> Result<u8, CommandFailure> {
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

fn unknown(name: &str) -> CommandFailure {
    let known = sim_lint::trap_table::all().map(|t| t.name.as_str());
    let near = sim_inputs::nearest(name, known);
    let hint = match near {
        Some(near) => format!("did you mean {near:?}?"),
        None => "`lint --list` lists all traps".to_owned(),
    };
    CommandFailure::Invalid(format!("unknown trap {name:?}; {hint}"))
}

/// Returns the manifests and their texts.
fn files(paths: &[String], quiet: bool) -> Result<(Vec<InspectedManifest>, Vec<SourceText>), CommandFailure> {
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
    Ok((files, sources))
}

/// Returns an error if the files contain neither a JobSet nor invalid objects.
fn require_jobsets(files: &[InspectedManifest]) -> Result<(), CommandFailure> {
    let mut objects = files.iter().flat_map(|f| &f.objects);
    if objects.any(|o| o.jobset.is_some() || !o.errors.is_empty()) {
        return Ok(());
    }
    let kinds = files.iter().flat_map(|f| &f.objects).map(|o| o.kind.as_str());
    let kinds: std::collections::BTreeSet<&str> = kinds.collect();
    let kinds: Vec<String> = kinds.into_iter().map(str::to_owned).collect();
    let mut places = files.iter().filter_map(|f| Some((f, f.objects.first()?)));
    let first = places.next();
    let place = first.map(|(file, object)| kube::place_of_kind(&file.source, &object.node));
    let error = kube::no_jobset("check", place, &kinds);
    Err(Diagnostics::from(error).into())
}

fn files_of_update(paths: &[String], quiet: bool) -> Result<Vec<InspectedManifest>, CommandFailure> {
    let (files, _) = files(paths, quiet)?;
    let jobsets = files.iter().flat_map(|f| &f.objects).filter(|o| o.jobset.is_some());
    match jobsets.count() {
        0 => Err(CommandFailure::Invalid("--update: the files contain no JobSet".to_owned())),
        _ => Ok(files),
    }
}

/// Prints a note for JobSets that are not in `--update`; these are linted as creations.
fn note_unknown_jobsets(files: &[InspectedManifest], old: &[InspectedManifest]) {
    let key = |j: &JobSet| format!("{}/{}", j.namespace, j.name);
    let names = |files: &[InspectedManifest]| -> Vec<String> {
        let objects = files.iter().flat_map(|f| &f.objects);
        objects.filter_map(|o| o.jobset.as_ref().map(key)).collect()
    };
    let known = names(old);
    for name in names(files).iter().filter(|n| !known.contains(n)) {
        output::notice(&format!("note: JobSet {name} is not in --update; checking it as a new JobSet"));
    }
}

fn target(args: &LintArgs, files: &[InspectedManifest]) -> Result<NodeTarget, CommandFailure> {
    let kubernetes = args.kubernetes.as_deref().map(kubernetes).transpose()?;
    if let Some(version) = args.jobset.as_deref()
        && !["0.12", "0.13"].contains(&version.trim_start_matches('v'))
    {
        bail!("unknown JobSet version {version:?}; legal: 0.12, 0.13");
    }
    let jobsets = files.iter().flat_map(|f| &f.objects);
    // Feature gates that a JobSet needs are enabled, as in `run`.
    let needed = FeatureGates::required_by(jobsets.filter_map(|o| o.jobset.as_ref()));
    let gates = feature_gates::read(needed, &args.feature_gates)?;
    Ok(NodeTarget { kubernetes: kubernetes.unwrap_or(sim_inputs::DEFAULT_VERSION), gates })
}

fn kubernetes(text: &str) -> Result<KubeVersion, CommandFailure> {
    let read = sim_inputs::kubernetes_version(text);
    read.map_err(|why| CommandFailure::Invalid(format!("--kubernetes: {why}")))
}

/// A gate on the number of findings, such as `lint.warnings > 0`.
struct LintGate {
    count: FindingCount,
    condition: FieldCondition,
}

impl LintGate {
    fn failed(&self, report: &LintReport) -> bool {
        let held = self.condition.evaluate((self.count)(report) as f64, None);
        held.is_ok_and(|verdict| verdict.failed)
    }
}

type FindingCount = fn(&LintReport) -> usize;

const COUNTS: [(&str, FindingCount); 4] = [
    ("lint.rejected", LintReport::rejected),
    ("lint.errors", |r| r.traps(TrapSeverity::Error)),
    ("lint.warnings", |r| r.traps(TrapSeverity::Warning)),
    ("lint.traps", |r| r.traps(TrapSeverity::Error) + r.traps(TrapSeverity::Warning)),
];

fn fail_if(args: &LintArgs) -> Result<Vec<LintGate>, CommandFailure> {
    let strict = args.strict.then(|| exit_status("lint.traps > 0"));
    let given = args.fail_if.iter().map(|text| exit_status(text));
    strict.into_iter().chain(given).collect()
}

fn exit_status(text: &str) -> Result<LintGate, CommandFailure> {
    let condition: FieldCondition = text.parse()?;
    let count = COUNTS.iter().find(|(known, _)| *known == condition.name);
    let unknown = || condition.unknown_name_error(COUNTS.iter().map(|c| c.0));
    let (_, count) = *count.ok_or_else(unknown)?;
    match condition.limit {
        ConditionLimit::Absolute(limit) if limit >= 0.0 && limit.fract() == 0.0 => Ok(LintGate { count, condition }),
        _ => {
            Err(CommandFailure::Invalid(format!("--fail-if {text:?}: the limit must be a whole number of at least 0")))
        }
    }
}

impl From<LintMethod> for UpdateMethod {
    fn from(method: LintMethod) -> UpdateMethod {
        match method {
            LintMethod::Apply => UpdateMethod::Apply,
            LintMethod::Replace => UpdateMethod::Replace,
        }
    }
}

#[cfg(test)]
#[path = "../../../../tests/inside/program/cli/lint.rs"]
mod tests;
