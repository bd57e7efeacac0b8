//! JobSets that Argo Workflows create: `resource.manifest` of a template, with the parameters that have a value.
//!
//! argoproj/argo-workflows, its pages fields (ResourceTemplate) and variables. A workflow's steps are not played:
//! every JobSet of it is submitted. Must never guess a parameter.

use super::{Found, Object};
use crate::manifest::diagnostic::{Diagnostic, Source};
use crate::manifest::node::Node;

/// Adds the JobSets of a Workflow, a WorkflowTemplate or a CronWorkflow.
pub fn manifests(object: &Object<'_>, found: &mut Found) {
    let spec = match object.kind.as_str() {
        "Workflow" | "WorkflowTemplate" | "ClusterWorkflowTemplate" => object.node.get("spec"),
        "CronWorkflow" => object.node.at_path(&["spec", "workflowSpec"]),
        _ => None,
    };
    let Some(spec) = spec else { return };
    let templates = spec.get("templates").map_or(&[][..], Node::items);
    for (i, template) in templates.iter().enumerate() {
        let Some(manifest) = template.at_path(&["resource", "manifest"]) else {
            continue;
        };
        let action = template
            .at_path(&["resource", "action"])
            .and_then(Node::as_str);
        let creates = matches!(action, Some("create" | "apply"));
        let Some(text) = manifest
            .as_str()
            .filter(|text| creates && text.contains("JobSet"))
        else {
            continue;
        };
        let mut text = text.to_owned();
        fill(&mut text, "workflow.name", object.name());
        parameters(&mut text, "workflow.parameters", spec.get("arguments"));
        parameters(&mut text, "inputs.parameters", template.get("inputs"));
        if let Some(name) = unfilled(&text) {
            let message = format!(
                "the JobSet in this manifest needs {name}, which has no value in this file"
            );
            let mut error = Diagnostic::at(object.source, manifest.at, message);
            error.legal("a value under arguments.parameters of the workflow, or a default under inputs.parameters");
            found.errors.push((object.text, object.node.at.line, error));
            continue;
        }
        let name = template.get("name").and_then(Node::as_str);
        let of = format!("/{}", name.map_or_else(|| i.to_string(), str::to_owned));
        let file = object.part(&of);
        found.texts.push((object.text, Source { file, text }));
        found.used.insert(object.called());
    }
}

/// Puts in every parameter of a list that has a value.
fn parameters(text: &mut String, prefix: &str, of: Option<&Node>) {
    let list = of.and_then(|of| of.get("parameters"));
    for parameter in list.map_or(&[][..], Node::items) {
        let value = parameter.get("value").or(parameter.get("default"));
        let name = parameter.get("name").and_then(Node::as_str);
        let value = value.and_then(|value| match value.as_bool() {
            Some(bool) => Some(bool.to_string()),
            None => value.scalar_text(),
        });
        if let (Some(name), Some(value)) = (name, value) {
            fill(text, &format!("{prefix}.{name}"), &value);
        }
    }
}

fn fill(text: &mut String, name: &str, value: &str) {
    for form in [format!("{{{{{name}}}}}"), format!("{{{{ {name} }}}}")] {
        if text.contains(&form) {
            *text = text.replace(&form, value);
        }
    }
}

/// The first `{{...}}` that is left.
fn unfilled(text: &str) -> Option<&str> {
    let from = text.find("{{")?;
    let to = text[from..].find("}}")?;
    Some(&text[from..from + to + 2])
}
