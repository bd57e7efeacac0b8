//! Manifest of an Indexed Job: the inputs as a ConfigMap, and one index per shard.

use crate::cli::failure::{CommandFailure, bail};
use crate::cli::inputs::{InputCopies, words};
use crate::cli::sweep::plan::shard_plan::ShardPlan;
use sim_base::escape::for_terminal;

use serde_json::{Value, json};

/// Maximum size of a ConfigMap in bytes (kubernetes.io/docs/concepts/configuration/configmap: 1 MiB).
const CONFIG_MAP: usize = 1_048_576;
/// User of the container: the number that images without a shell commonly use for `nonroot`.
const USER: u32 = 65_532;
/// Retries per index. An index whose process ended, for example with its node, resumes its shard. The value is the
/// default backoffLimit of a Job (batch/v1: 6).
const RETRIES: u32 = 6;

pub fn manifest(plan: &ShardPlan, inputs: &InputCopies) -> Result<String, CommandFailure> {
    let size: usize = inputs.files.iter().map(|(name, text)| name.len() + text.len()).sum();
    // Reserves space for keys and metadata.
    if size > CONFIG_MAP - 16_384 {
        bail!(
            "the inputs have {size} bytes, and a ConfigMap holds at most {CONFIG_MAP}: add them to the image or to the volume, and run `sweep --shard auto/{}` there",
            plan.shards
        );
    }
    let name = &plan.name;
    let mut text = format!(
        "# {}\n#\n#   kubectl apply -f plan.yaml\n#   kubectl wait --for=condition=complete --timeout=-1s job/{name}\n#\n\
         # Then run, on a machine that mounts the volume:\n#\n#   jobset-sim sweep merge {name}-shards --out {}\n#\n\
         # The PersistentVolumeClaim {} must exist with access mode ReadWriteMany. The image {} contains the program: see\n\
         # the Containerfile.\n",
        for_terminal(&plan.size, false),
        plan.out,
        plan.claim,
        plan.image
    );
    text.push_str(&sim_inputs::print_yaml(&config_map(name, inputs)));
    text.push_str("---\n");
    text.push_str(&sim_inputs::print_yaml(&job(plan, inputs)));
    Ok(text)
}

/// Returns the ConfigMap key of a file. Keys cannot contain slashes; the volume maps each key to its file name.
fn key(i: usize) -> String {
    format!("input-{i:03}")
}

fn config_map(name: &str, inputs: &InputCopies) -> Value {
    let files = inputs.files.iter().enumerate();
    let files = files.filter(|(_, (name, _))| !name.ends_with('/'));
    let data = files.map(|(i, (_, text))| (key(i), Value::from(text.as_str())));
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name},
        "data": Value::Object(data.collect())
    })
}

fn job(plan: &ShardPlan, inputs: &InputCopies) -> Value {
    let files = inputs.files.iter().enumerate();
    let files = files.filter(|(_, (name, _))| !name.ends_with('/'));
    let items = files.map(|(i, (name, _))| json!({"key": key(i), "path": name}));
    let items: Vec<Value> = items.collect();
    let name = &plan.name;
    // The command of `inputs/command.txt` must run inside the inputs directory.
    let mut args: Vec<String> = words(&inputs.command).into_iter().skip(1).collect();
    args.extend([
        "--shard".to_owned(),
        format!("auto/{}", plan.shards),
        "--threads".to_owned(),
        plan.cpus.to_string(),
        "--out".to_owned(),
        format!("/results/{name}-shards/{{shard}}"),
        "--quiet".to_owned(),
    ]);
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {
            "completionMode": "Indexed",
            "completions": plan.shards,
            "parallelism": plan.shards,
            "backoffLimitPerIndex": RETRIES,
            "template": {"spec": {
                "restartPolicy": "Never",
                "securityContext": {
                    "runAsNonRoot": true,
                    "runAsUser": USER,
                    "fsGroup": USER,
                    "seccompProfile": {"type": "RuntimeDefault"}
                },
                "containers": [{
                    "name": "shard",
                    "image": plan.image,
                    "args": args,
                    "workingDir": "/inputs",
                    "resources": {"requests": {"cpu": plan.cpus.to_string()}},
                    "securityContext": {
                        "allowPrivilegeEscalation": false,
                        "readOnlyRootFilesystem": true,
                        "capabilities": {"drop": ["ALL"]}
                    },
                    "volumeMounts": [
                        {"name": "inputs", "mountPath": "/inputs", "readOnly": true},
                        {"name": "results", "mountPath": "/results"}
                    ]
                }],
                "volumes": [
                    {"name": "inputs", "configMap": {"name": name, "items": items}},
                    {"name": "results", "persistentVolumeClaim": {"claimName": plan.claim}}
                ]
            }}
        }
    })
}
