//! Reads `timing`: delays that override the timing profile.

use crate::{dist, presets, read};
use crate::{text::diagnostic::DiagnosticReport, text::node::YamlNode};
use sim_api::spec::TimingSpec;
use sim_api::spec::timing::{KubeletTiming, RealKubelet};
use sim_base::Duration;
use sim_base::random::Distribution;

pub fn read(scenario: &YamlNode, report: &mut DiagnosticReport) -> TimingSpec {
    let mut timing = presets::timing();
    let Some(node) = scenario.get("timing") else {
        return timing;
    };
    let scripted = node.at_path(&["kubelet", "scripted"]);
    for (key, value) in node.entries() {
        if value.is_null() || key.name == "kubelet" {
            continue;
        }
        let known = set_shared(&mut timing, &key.name, value, report);
        if let (false, KubeletTiming::Real(kubelet)) = (known, &mut timing.kubelet) {
            set_kubelet(kubelet, &key.name, value, report);
        }
    }
    if let Some(node) = scripted {
        let time = |key: &str, default: Duration| read::duration(node, key).unwrap_or(default);
        timing.kubelet = KubeletTiming::Scripted {
            start: time("start", Duration::from_secs(1)),
            stop: time("stop", Duration::ZERO),
            stop_exit_code: read::i32_of(node, "stopExitCode").unwrap_or(0),
            restart: time("restart", Duration::from_secs(1)),
            has_agents: false,
        };
    }
    timing
}

/// Sets a delay that does not belong to the kubelet. Returns false if `id` is not such a delay.
fn set_shared(timing: &mut TimingSpec, id: &str, value: &YamlNode, report: &mut DiagnosticReport) -> bool {
    match id {
        "apiRead" => put(&mut timing.api_read, id, value, report),
        "apiWrite" => put(&mut timing.api_write, id, value, report),
        "apiPodCreate" => put(&mut timing.api_pod_create, id, value, report),
        "watchLag" => put(&mut timing.watch_lag, id, value, report),
        "agentFanout" => put(&mut timing.agent_fanout, id, value, report),
        "jobsetListPerPod" => put_fixed(&mut timing.jobset_list_per_pod, value),
        "jobSyncBatchPeriod" => put_fixed(&mut timing.job_sync_batch_period, value),
        "schedulerFixed" => put_fixed(&mut timing.scheduler.fixed, value),
        "schedulerPerNode" => put_fixed(&mut timing.scheduler.per_node, value),
        "schedulerPerFeasibleNode" => put_fixed(&mut timing.scheduler.per_feasible_node, value),
        "schedulerAffinityPerNode" => put_fixed(&mut timing.scheduler.affinity_per_node, value),
        "schedulerPreferredPerNode" => put_fixed(&mut timing.scheduler.preferred_per_node, value),
        "schedulerExistingTerm" => put_fixed(&mut timing.scheduler.existing_term, value),
        "schedulerNodeAffinity" => put_fixed(&mut timing.scheduler.node_affinity, value),
        "schedulerHardSpreadPerNode" => put_fixed(&mut timing.scheduler.hard_spread_per_node, value),
        "schedulerSoftSpreadPerNode" => put_fixed(&mut timing.scheduler.soft_spread_per_node, value),
        "schedulerPerClaim" => put_fixed(&mut timing.scheduler.per_claim, value),
        _ => return false,
    }
    true
}

fn set_kubelet(kubelet: &mut RealKubelet, id: &str, value: &YamlNode, report: &mut DiagnosticReport) {
    let dist = match id {
        "volumes" => &mut kubelet.volumes,
        "sandbox" => &mut kubelet.sandbox,
        "containerStart" => &mut kubelet.container_start,
        "imageCheck" => &mut kubelet.image_check,
        "statusWrite" => &mut kubelet.status_write,
        "containerStop" => &mut kubelet.container_stop,
        "cleanup" => &mut kubelet.cleanup,
        "containerRemove" => &mut kubelet.container_remove,
        "agentBoot" => &mut kubelet.agent_boot,
        "unmountPoll" => return put_fixed(&mut kubelet.unmount_poll, value),
        "plegPeriod" => return put_fixed(&mut kubelet.pleg_period, value),
        "minimumGrace" => return put_fixed(&mut kubelet.minimum_grace, value),
        _ => return,
    };
    put(dist, id, value, report);
}

fn put(dist: &mut Distribution, id: &str, value: &YamlNode, report: &mut DiagnosticReport) {
    match dist::dist(value) {
        Ok(read) => *dist = read,
        Err(problem) => {
            report.error(value.at, format!("timing.{id}: {problem}"));
        }
    }
}

fn put_fixed(duration: &mut Duration, value: &YamlNode) {
    if let Some(read) = value.scalar_text().and_then(|t| t.parse().ok()) {
        *duration = read;
    }
}
