//! The validating webhook on create: VAL-1…VAL-26, in the order and with the words of upstream's code.
//!
//! Pure; reads the object as Go reads it. Volumes are `webhook_volumes`'. Must never look at what the schema checks.

use super::errors::{FieldError, Kind, quoted};
use super::names;
use super::webhook_volumes;
use super::{Gates, go};
use serde_json::Value;

const REASONS: [&str; 5] = [
    "BackoffLimitExceeded",
    "DeadlineExceeded",
    "FailedIndexes",
    "MaxFailedIndexesExceeded",
    "PodFailurePolicy",
];
const MAX: i64 = i32::MAX as i64;
const RESTART_JOB_REPLICAS_MAX: i64 = 1024;
const RULE_NAME_MAX: usize = 128;
const MANAGED_BY_MAX: usize = 63;
const COORDINATOR: &str = "jobset.sigs.k8s.io/coordinator";

/// Every error of the webhook; `Err` is Go's own.
pub fn errors(object: &Value, gates: Gates, claims: &[Value]) -> Result<Vec<FieldError>, String> {
    let read = go::jobset(object)?;
    let webhook = Webhook {
        object,
        name: read["metadata"]["name"].as_str().unwrap_or(""),
        spec: &read["spec"],
        gates,
    };
    let mut errors = webhook.run();
    let namespace = read["metadata"]["namespace"].as_str().unwrap_or("");
    let volumes = webhook_volumes::Volumes {
        object,
        name: webhook.name,
        namespace,
        spec: webhook.spec,
        claims,
    };
    errors.extend(volumes.errors());
    Ok(errors)
}

struct Webhook<'a> {
    /// As stored, where an empty list still differs from none.
    object: &'a Value,
    name: &'a str,
    spec: &'a Value,
    gates: Gates,
}

pub fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or("")
}

fn number(value: &Value, key: &str) -> i64 {
    value[key].as_i64().unwrap_or(0)
}

impl<'a> Webhook<'a> {
    fn run(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let policy = &self.spec["failurePolicy"];
        let in_place = policy["restartStrategy"] == "InPlaceRestart";
        if in_place && !self.gates.in_place_restart {
            errors.push(FieldError::internal(
                "InPlaceRestart restart strategy cannot be set when InPlaceRestart feature gate is disabled",
            ));
        }
        if self.object["spec"]["replicatedJobs"][0]["dependsOn"].is_array() {
            errors.push(FieldError::internal(
                "DependsOn can't be set for the first ReplicatedJob",
            ));
        }
        self.subdomain(&mut errors);
        self.managed_by(&mut errors);
        let jobs = self.jobs();
        for (i, rj) in jobs.iter().enumerate() {
            self.replicated_job(i, rj, &mut errors);
            for item in items(&rj["dependsOn"]) {
                let (own, other) = (text(rj, "name"), text(item, "name"));
                if !jobs[..=i].iter().any(|j| text(j, "name") == other) {
                    errors.push(FieldError::internal(format!(
                        "replicatedJob: {own} cannot depend on replicatedJob: {other}"
                    )));
                }
            }
            if in_place && self.gates.in_place_restart {
                self.in_place(i, rj, &mut errors);
            }
        }
        self.targets(&self.spec["successPolicy"], "", &mut errors);
        self.failure_policy(policy, &mut errors);
        self.coordinator(&mut errors);
        errors
    }

    fn jobs(&self) -> &'a [Value] {
        items(&self.spec["replicatedJobs"])
    }

    /// VAL-3.
    fn subdomain(&self, errors: &mut Vec<FieldError>) {
        const PATH: &str = "spec.network.subdomain";
        let subdomain = text(&self.spec["network"], "subdomain");
        if subdomain.is_empty() {
            return;
        }
        for words in names::dns1123_subdomain(subdomain) {
            errors.push(FieldError::invalid(PATH, quoted(subdomain), words));
        }
        let long = ".spec.network.subdomain is too long, must be less than 63 characters";
        label(PATH, subdomain, subdomain, long, errors);
    }

    /// VAL-4.
    fn managed_by(&self, errors: &mut Vec<FieldError>) {
        const PATH: &str = "spec.managedBy";
        let Some(manager) = self.spec["managedBy"].as_str() else {
            return;
        };
        match manager.split_once('/') {
            _ if manager.is_empty() => errors.push(FieldError::new(PATH, Kind::Required, "")),
            Some((host, path)) if !host.is_empty() && !path.is_empty() => {
                for words in names::dns1123_subdomain(host) {
                    errors.push(FieldError::invalid(PATH, quoted(host), words));
                }
                if !names::is_http_path(path) {
                    let words = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
                    errors.push(FieldError::invalid(PATH, quoted(path), words));
                }
            }
            _ => {
                let words = "must be a domain-prefixed path (such as \"acme.io/foo\")";
                errors.push(FieldError::invalid(PATH, quoted(manager), words));
            }
        }
        if manager.len() > MANAGED_BY_MAX {
            let words = format!("may not be more than {MANAGED_BY_MAX} bytes");
            errors.push(FieldError::new(PATH, Kind::TooLong, words));
        }
    }

    /// VAL-5…VAL-8.
    fn replicated_job(&self, i: usize, rj: &Value, errors: &mut Vec<FieldError>) {
        let (name, replicas) = (text(rj, "name"), number(rj, "replicas"));
        let job = &rj["template"]["spec"];
        let path = format!("spec.replicatedJobs[{i}]");
        if job["parallelism"].as_i64().unwrap_or(1) * replicas > MAX {
            errors.push(FieldError::internal(format!(
                "the product of replicas and parallelism must not exceed {MAX} for replicatedJob '{name}'"
            )));
        }
        let group = text(rj, "groupName");
        let long = ".spec.replicatedJob[].groupName is too long, must be less than 63 characters";
        label(&format!("{path}.groupName"), group, group, long, errors);
        let path = format!("{path}.name");
        let longest = format!("{}-{name}-{}", self.name, replicas - 1);
        let exceeds = |what: &str| {
            format!(
                "JobSet name is too long, {what} names generated for this JobSet will exceed 63 characters"
            )
        };
        label(&path, &longest, &longest, &exceeds("job"), errors);
        if let Some(completions) = job["completions"].as_i64()
            && job["completionMode"] == "Indexed"
        {
            // The code counts in 32 bits.
            let last = (completions as i32).wrapping_sub(1);
            let pod = format!("{longest}-{last}-abcde");
            label(&path, &pod, &longest, &exceeds("pod"), errors);
        }
    }

    /// VAL-11…VAL-13.
    fn in_place(&self, i: usize, rj: &Value, errors: &mut Vec<FieldError>) {
        let job = &rj["template"]["spec"];
        let mut wrong = |field: &str, is: bool, words: &str| {
            if is {
                errors.push(FieldError::invalid(
                    format!("spec.replicatedJobs[{i}].template.spec.{field}"),
                    go::written_plain(&job[field]),
                    format!("replicatedJob {}: {words}", text(rj, "name")),
                ));
            }
        };
        let limit = "must be set to 2147483647 (MaxInt32) when in-place restart is enabled";
        wrong("backoffLimit", job["backoffLimit"] != MAX, limit);
        let policy = "must be set to Failed when in-place restart is enabled";
        wrong(
            "podReplacementPolicy",
            job["podReplacementPolicy"] != "Failed",
            policy,
        );
        let equal = !job["completions"].is_null() && job["completions"] == job["parallelism"];
        let words = "completions and parallelism must be set and equal to each other when in-place restart is enabled";
        wrong("completions", !equal, words);
    }

    /// VAL-22, VAL-26.
    fn targets(&self, policy: &Value, place: &str, errors: &mut Vec<FieldError>) {
        for target in items(&policy["targetReplicatedJobs"]) {
            let target = target.as_str().unwrap_or("");
            if !self.jobs().iter().any(|j| text(j, "name") == target) {
                errors.push(FieldError::internal(format!(
                    "invalid replicatedJob name '{target}'{place} does not appear in .spec.ReplicatedJobs"
                )));
            }
        }
    }

    /// VAL-23…VAL-26.
    fn failure_policy(&self, policy: &Value, errors: &mut Vec<FieldError>) {
        let rules = items(&policy["rules"]);
        let restarts = ["RestartJob", "RestartJobAndIgnoreMaxRestarts"];
        if rules.iter().any(|r| restarts.contains(&text(r, "action"))) {
            if !self.gates.restart_job {
                errors.push(FieldError::internal(
                    "RestartJob and RestartJobAndIgnoreMaxRestarts failure policy actions are not allowed when RestartJob feature gate is disabled",
                ));
                return;
            }
            let large = |j: &Value| number(j, "replicas") > RESTART_JOB_REPLICAS_MAX;
            if self.jobs().iter().any(large) {
                errors.push(FieldError::internal(format!(
                    "JobSet cannot have a failure policy rule with RestartJob or RestartJobAndIgnoreMaxRestarts action and a replicated job with replicas > {RESTART_JOB_REPLICAS_MAX}"
                )));
            }
        }
        for rule in rules {
            rule_name(text(rule, "name"), errors);
            self.targets(rule, " in failure policy", errors);
            for reason in items(&rule["onJobFailureReasons"]) {
                let reason = reason.as_str().unwrap_or("");
                if !REASONS.contains(&reason) {
                    errors.push(FieldError::internal(format!(
                        "invalid job failure reason '{reason}' in failure policy is not a recognized job failure reason"
                    )));
                }
            }
        }
        unique_names(rules, errors);
    }

    /// VAL-9, VAL-10.
    fn coordinator(&self, errors: &mut Vec<FieldError>) {
        let coordinator = &self.spec["coordinator"];
        if !coordinator.is_object() {
            return;
        }
        let name = text(coordinator, "replicatedJob");
        let (job_index, pod_index) = (
            number(coordinator, "jobIndex"),
            number(coordinator, "podIndex"),
        );
        if let Some(words) = self.coordinator_index(name, job_index, pod_index) {
            errors.push(FieldError::internal(words));
        }
        let subdomain = match text(&self.spec["network"], "subdomain") {
            "" => self.name,
            subdomain => subdomain,
        };
        let endpoint = format!("{}-{name}-{job_index}-{pod_index}.{subdomain}", self.name);
        let bad = names::label_value(&endpoint);
        if !bad.is_empty() {
            errors.push(FieldError::internal(format!(
                "spec will lead to invalid label value {} for coordinator label {} (long JobSet / ReplicatedJob / SubDomain name?): {}",
                quoted(&endpoint),
                quoted(COORDINATOR),
                bad.join(", ")
            )));
        }
    }

    fn coordinator_index(&self, name: &str, job_index: i64, pod_index: i64) -> Option<String> {
        let Some(rj) = self.jobs().iter().find(|j| text(j, "name") == name) else {
            return Some(format!("coordinator replicatedJob {name} does not exist"));
        };
        if !(0..number(rj, "replicas")).contains(&job_index) {
            return Some(format!(
                "coordinator job index {job_index} is invalid for replicatedJob {name}"
            ));
        }
        let job = &rj["template"]["spec"];
        let completions = job["completions"].as_i64();
        let Some(completions) = completions.filter(|_| job["completionMode"] == "Indexed") else {
            return Some(
                "job for coordinator pod must be indexed completion mode, and completions number must be set"
                    .to_owned(),
            );
        };
        (!(0..completions).contains(&pod_index)).then(|| {
            format!(
                "coordinator pod index {pod_index} is invalid for replicatedJob {name} job index {job_index}"
            )
        })
    }
}

/// DNS-1035; the error quotes `shown`, and says `long` of a long one.
fn label(path: &str, checked: &str, shown: &str, long: &str, errors: &mut Vec<FieldError>) {
    for words in names::dns1035_label(checked) {
        let words = if words == names::TOO_LONG {
            long
        } else {
            &words
        };
        errors.push(FieldError::invalid(path, quoted(shown), words));
    }
}

/// VAL-25.
fn rule_name(name: &str, errors: &mut Vec<FieldError>) {
    if name.is_empty() || name.len() > RULE_NAME_MAX {
        errors.push(FieldError::internal(format!(
            "invalid failure policy rule name of length {}, the rule name must be at least 1 characters long and at most {RULE_NAME_MAX} characters long",
            name.len()
        )));
    }
    let inner = |c: char| c.is_ascii_alphanumeric() || "_,:".contains(c);
    let good = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && name.chars().all(inner);
    if !good {
        errors.push(FieldError::internal(format!(
            "invalid failure policy rule name '{name}', a failure policy rule name must start with an alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'"
        )));
    }
}

/// Upstream lists them in the order of a Go map; here it is that of their first rules.
fn unique_names(rules: &[Value], errors: &mut Vec<FieldError>) {
    for (i, rule) in rules.iter().enumerate() {
        let name = text(rule, "name");
        let same: Vec<usize> = (0..rules.len())
            .filter(|k| text(&rules[*k], "name") == name)
            .collect();
        if same.len() > 1 && same[0] == i {
            let indices: Vec<String> = same.iter().map(usize::to_string).collect();
            errors.push(FieldError::internal(format!(
                "rule names are not unique, rules with indices [{}] all have the same name '{name}'",
                indices.join(" ")
            )));
        }
    }
}
