//! `explain children`: reads manifests and prints the objects that the controllers would create for them.

use crate::cli::explain::children::{ChildEntry, children};
use crate::cli::inputs::{experiment_input, feature_gates};
use crate::{cli::explain::yaml::yaml, cli::failure::CommandFailure, cli::output};
use serde_json::{Value, json};
use sim_api::admission::AdmissionGates;
use sim_api::spec::{FeatureGates, JobSet};
use sim_inputs::{Diagnostics, ManifestSet, kube};

#[derive(Debug, clap::Args)]
pub struct ExplainChildrenArgs {
    /// Manifests: a file, a directory, or - for standard input (repeatable)
    #[arg(short = 'f', value_name = "FILE|DIR|-", required = true)]
    pub manifests: Vec<String>,
    #[arg(long, value_enum, default_value_t = ObjectFormat::Yaml)]
    pub format: ObjectFormat,
    /// JobSet feature gates, e.g. RestartJob=false,ElasticJobSet=true [default: those that the manifests use]
    #[arg(long, value_name = "GATE=BOOL", value_delimiter = ',')]
    pub feature_gates: Vec<String>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ObjectFormat {
    Yaml,
    Json,
}

pub fn cli(args: &ExplainChildrenArgs) -> Result<(), CommandFailure> {
    let (documents, manifests) = read(&args.manifests)?;
    if manifests.jobsets.is_empty() {
        let error = kube::no_jobset("explain", manifests.other, &manifests.skipped);
        return Err(Diagnostics::from(error).into());
    }
    let jobsets = manifests.jobsets.into_iter();
    let jobsets: Vec<JobSet> = jobsets.map(|(jobset, _)| jobset).collect();
    jobsets.iter().try_for_each(printable)?;
    let gates = gates(args, &jobsets)?;
    let mut written = Ok(());
    let mut out = |text: &str| {
        if written.is_ok() {
            written = output::result(text);
        }
    };
    let mut writer = ChildWriter { format: args.format, written: 0, notes: Vec::new(), out: &mut out };
    children(&documents, gates, &mut |entry| writer.write(entry))?;
    writer.finish();
    written
}

/// Reads the manifests. The manifest reader runs first, so that errors include the line number.
fn read(paths: &[String]) -> Result<(Vec<Value>, ManifestSet), CommandFailure> {
    let (sources, not_tried, errors) = experiment_input::manifest_sources(paths);
    if !errors.is_empty() {
        return Err(Diagnostics(errors).into());
    }
    if !not_tried.is_empty() {
        output::note(&format!("not read: {}", not_tried.join(", ")));
    }
    let manifests = sim_inputs::read_sources(&sources, &[])?;
    let mut all = sim_inputs::wrapped_documents(&sources);
    for source in &sources {
        all.extend(sim_inputs::documents(source)?);
    }
    Ok((all, manifests))
}

/// Maximum size of the children of one JobSet in bytes.
const PRINTED_MAX: u64 = 200 << 20;
/// Approximate number of bytes that API server defaults add to an object.
const DEFAULTED: u64 = 2_000;

/// Returns an error if the children of a JobSet exceed the maximum output size.
fn printable(jobset: &JobSet) -> Result<(), CommandFailure> {
    let rjs = jobset.object.as_ref().map(|o| &o["spec"]["replicatedJobs"]);
    let rjs = rjs.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let sizes = jobset.spec.replicated_jobs.iter().zip(rjs).map(|(rj, text)| {
        let each = text["template"].to_string().len() as u64 + DEFAULTED;
        let objects = u64::from(rj.replicas) * (1 + u64::from(rj.template.pods()));
        (objects, objects.saturating_mul(each))
    });
    let (mut objects, mut bytes) = (0u64, 0u64);
    for (more, size) in sizes {
        objects = objects.saturating_add(more);
        bytes = bytes.saturating_add(size);
    }
    if bytes <= PRINTED_MAX {
        return Ok(());
    }
    Err(CommandFailure::Invalid(format!(
        "JobSet {} has {objects} Jobs and pods, about {} MiB; the limit is {} MiB: reduce the number of replicas, \
         which have equal children",
        jobset.name,
        bytes >> 20,
        PRINTED_MAX >> 20
    )))
}

/// Returns the feature gates. Gates that the JobSets need are enabled as in `run`, with a note.
fn gates(args: &ExplainChildrenArgs, jobsets: &[JobSet]) -> Result<AdmissionGates, CommandFailure> {
    let needed = FeatureGates::required_by(jobsets);
    let set = feature_gates::read(needed, &args.feature_gates)?;
    let on = [
        ("InPlaceRestart", needed.in_place_restart && set.in_place_restart),
        ("RestartJob", needed.restart_job && set.restart_job),
    ];
    for (name, _) in on.iter().filter(|(_, on)| *on) {
        output::notice(&format!("note: feature gate {name} is enabled because the manifests use it"));
    }
    Ok(AdmissionGates {
        in_place_restart: set.in_place_restart,
        restart_job: set.restart_job,
        elastic_job_set: set.elastic_jobset,
    })
}

/// Writes children as YAML documents, or as a List, as kubectl prints several objects, with the notes in a separate
/// field.
struct ChildWriter<'o> {
    format: ObjectFormat,
    written: usize,
    /// Notes of a List, which follow the objects.
    notes: Vec<String>,
    out: &'o mut dyn FnMut(&str),
}

const LIST_HEAD: &str = "{\n  \"apiVersion\": \"v1\",\n  \"items\": [";

impl ChildWriter<'_> {
    fn write(&mut self, entry: ChildEntry) {
        let is_first = self.written == 0;
        match (self.format, entry.object) {
            (ObjectFormat::Yaml, object) => {
                let separator = if is_first { "" } else { "---\n" };
                let notes: String = entry.notes.iter().map(|note| format!("# {note}\n")).collect();
                (self.out)(&format!("{separator}{notes}{}", object.as_ref().map(yaml).unwrap_or_default()));
                self.written += 1;
            }
            (ObjectFormat::Json, object) => {
                self.notes.extend(entry.notes);
                if let Some(object) = object {
                    let separator = if is_first { LIST_HEAD } else { "," };
                    (self.out)(&format!("{separator}\n    {}", indented(&object, 4)));
                    self.written += 1;
                }
            }
        }
    }

    fn finish(self) {
        if self.format == ObjectFormat::Json {
            let items = if self.written == 0 { LIST_HEAD } else { "\n  " };
            let notes = indented(&json!(self.notes), 2);
            (self.out)(&format!("{items}],\n  \"kind\": \"List\",\n  \"notes\": {notes}\n}}\n"));
        }
    }
}

/// Returns JSON whose lines after the first are indented.
fn indented(value: &Value, by: usize) -> String {
    format!("{value:#}").replace('\n', &format!("\n{:by$}", ""))
}

#[cfg(test)]
#[path = "../../../../tests/inside/program/cli/explain/manifest_children.rs"]
mod tests;
