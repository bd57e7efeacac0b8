//! The API server's word on a JobSet of a manifest, beside this program's own diagnostics.
//!
//! Must never find places in a text: that is the diagnostics' business.

use super::node::Node;
use crate::admission::{self, Answer, Create, FieldValidation, Gates};
use serde_json::Value;

/// Longer sentences quote whole lists; what they say stands at their start and end.
const SHOWN_MAX: usize = 600;

/// With every feature gate on, since the manifest does not say which cluster it is for; as kubectl asks.
fn answer(object: &Value) -> Answer {
    let namespace = object["metadata"]["namespace"].as_str();
    let request = Create {
        object,
        namespace: namespace.filter(|n| !n.is_empty()).unwrap_or("default"),
        gates: Gates {
            in_place_restart: true,
            restart_job: true,
            elastic_job_set: true,
        },
        existing_claims: &[],
    };
    admission::post(&request, FieldValidation::Strict, &[])
}

/// The object as it would be stored, or the server's refusal.
pub fn stored(object: &Value) -> Result<Value, String> {
    answer(object).result.map_err(|r| r.message)
}

/// The server's refusal; None: it would accept.
pub fn refusal(node: &Node) -> Option<String> {
    let message = stored(&node.to_json()).err()?;
    let length = message.chars().count();
    if length <= SHOWN_MAX {
        return Some(message);
    }
    let half = SHOWN_MAX / 2;
    let start: String = message.chars().take(half).collect();
    let end: String = message.chars().skip(length - half).collect();
    Some(format!("{start} ... {end}"))
}

#[cfg(test)]
mod tests {
    use crate::manifest::{Source, read_manifests};

    fn error(spec: &str) -> String {
        let head = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\n";
        let source = Source {
            file: "a.yaml".into(),
            text: format!("{head}{spec}"),
        };
        read_manifests(&source).unwrap_err().to_string()
    }

    #[test]
    fn an_error_has_the_servers_sentence_beside_it() {
        let text = error("spec: {suspended: true}\n");
        let server = "= the API server would say: JobSet in version \"v1alpha2\" cannot be handled as a JobSet: strict \
                      decoding error: unknown field \"spec.suspended\"";
        assert!(text.starts_with("error: unknown field"), "{text}");
        assert!(
            text.contains("a.yaml:4:8") && text.contains(server),
            "{text}"
        );
    }

    #[test]
    fn what_only_the_server_refuses_is_refused() {
        let text = error("spec: {startupPolicy: {startupPolicyOrder: InOrder}}\n");
        assert!(text.contains("no such key: replicatedJobs"), "{text}");
    }
}
