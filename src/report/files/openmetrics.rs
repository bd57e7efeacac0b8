//! Export of a run as OpenMetrics text, with the metric names of JobSet, kube-state-metrics and client-go. Each
//! sample has a timestamp.
//!
//! Sources of the names: JobSet `site/content/en/docs/reference/metrics.md`; GKE's JobSet metrics package of
//! kube-state-metrics; kube-state-metrics `docs/metrics/workload`; component-base `metrics/prometheus`. Only
//! families whose values are simulated are written.

use super::openmetrics_requests as requests;
use super::openmetrics_text::{MetricsText, label};
use sim_analysis::metrics::RunView;
use sim_analysis::metrics::open_metrics::{JobNow, JobSetNow, LIMITER_BOUNDS, MetricsDetail, PHASES, ScrapedMetrics};
use sim_base::{Duration, JobId, SimTime};
use sim_engine::record::{JobSetConditionType, LedgerResource, NodeReady};

/// A run and its metrics, sampled over the whole run.
pub struct MetricFamilies<'a> {
    pub run: RunView<'a>,
    pub samples: &'a ScrapedMetrics,
}

pub fn text(of: &MetricFamilies<'_>) -> String {
    let mut out = MetricsText(String::with_capacity(1 << 16));
    jobsets(&mut out, of);
    if of.samples.detail == MetricsDetail::Pods {
        jobs(&mut out, of);
        pods(&mut out, of);
        nodes(&mut out, of);
    }
    control_plane(&mut out, of);
    requests::write(&mut out, of.samples);
    out.0.push_str("# EOF\n");
    out.0
}

/// Labels that kube-state-metrics adds to metrics of custom resources.
const CUSTOM_RESOURCE: &str = ",customresource_group=\"jobset.x-k8s.io\",customresource_kind=\"JobSet\",\
                               customresource_version=\"v1alpha2\"";

const REPLICAS: [&str; 5] = ["ready", "succeeded", "failed", "active", "suspended"];

fn jobsets(out: &mut MetricsText, of: &MetricFamilies<'_>) {
    let (run, scraped) = (&of.run, of.samples);
    let n = run.names.jobsets.len();
    let labels = |i: usize| {
        let j = &run.names.jobsets[i];
        format!("{},{}", label("namespace", &j.namespace), label("jobset_name", &j.name)) + CUSTOM_RESOURCE
    };
    //  Index, labels and replicas of each replicatedJob in the spec.
    let jobs = |i: usize| {
        let spec = run.scenario.jobsets.get(i);
        let spec = spec.map_or(&[][..], |j| &j.jobset.spec.replicated_jobs);
        let one = |(at, rj): (usize, &sim_api::spec::ReplicatedJob)| {
            let own = label("replicated_job_name", &rj.name);
            (at, format!("{},{own}", labels(i)), rj.replicas)
        };
        spec.iter().enumerate().map(one).collect::<Vec<_>>()
    };
    let each = |out: &mut MetricsText, i: usize, write: &dyn Fn(&mut MetricsText, &JobSetNow, SimTime)| {
        for (all, at) in scraped.jobsets.iter().zip(&scraped.at) {
            if let Some(now) = all.get(i).filter(|now| now.exists) {
                write(out, now, *at);
            }
        }
    };
    let name = "kube_jobset_specified_replicas";
    out.family(name, "gauge", "The number of specified replicas per replicated job in a JobSet.");
    for i in 0..n {
        for (_, labels, replicas) in jobs(i) {
            each(out, i, &|out, _, at| out.sample(name, &labels, replicas, at));
        }
    }
    for (k, status) in REPLICAS.iter().enumerate() {
        let name = format!("kube_jobset_{status}_replicas");
        let help = format!("The number of replicas in {status} status per replicated job in a JobSet.");
        out.family(&name, "gauge", &help);
        for i in 0..n {
            for (rj, labels, _) in jobs(i) {
                each(out, i, &|out, now, at| {
                    //  A JobSet without a status has no samples, as in kube-state-metrics.
                    if let Some(replicas) = now.replicas.get(rj) {
                        out.sample(&name, &labels, replicas[k], at);
                    }
                });
            }
        }
    }
    let name = "kube_jobset_restarts";
    out.family(name, "gauge", "The number of times a JobSet has restarted.");
    for i in 0..n {
        let labels = labels(i);
        each(out, i, &|out, now, at| out.sample(name, &labels, now.restarts, at));
    }
    let name = "kube_jobset_status_condition";
    out.family(name, "gauge", "The current status conditions of a JobSet.");
    for i in 0..n {
        for kind in JobSetConditionType::ALL {
            for (status, is) in [("true", true), ("false", false)] {
                let labels = format!("{},{},{}", labels(i), label("condition", kind.as_str()), label("status", status));
                each(out, i, &|out, now, at| {
                    if let Some(now) = now.conditions.get(&kind) {
                        out.sample(name, &labels, u8::from(*now == is), at);
                    }
                });
            }
        }
    }
    write_terminal_states(out, of);
}

/// Writes the metrics of the JobSet controller: failed and completed JobSets and their terminal states.
fn write_terminal_states(out: &mut MetricsText, of: &MetricFamilies<'_>) {
    use JobSetConditionType::{Completed, Failed};
    let (run, scraped) = (&of.run, of.samples);
    let is = |now: &JobSetNow, kind| now.conditions.get(&kind).copied().unwrap_or(false);
    let named = |i: usize| {
        let j = &run.names.jobsets[i];
        label("jobset_name", &format!("{}/{}", j.namespace, j.name))
    };
    for (name, kind, help) in [
        ("jobset_failed", Failed, "The total number of failed JobSets."),
        ("jobset_completed", Completed, "The total number of completed JobSets."),
    ] {
        out.family(name, "counter", help);
        for i in 0..run.names.jobsets.len() {
            for (all, at) in scraped.jobsets.iter().zip(&scraped.at) {
                let ended = all.get(i).is_some_and(|now| is(now, kind));
                out.sample(&format!("{name}_total"), &named(i), u8::from(ended), *at);
            }
        }
    }
    let name = "jobset_terminal_state";
    out.family(name, "gauge", "The current number of JobSets in a terminal state (e.g., Completed, Failed).");
    for i in 0..run.names.jobsets.len() {
        for kind in [Completed, Failed] {
            let labels = format!("{},{}", named(i), label("terminal_state", kind.as_str()));
            for (all, at) in scraped.jobsets.iter().zip(&scraped.at) {
                if all.get(i).is_some_and(|now| now.exists && is(now, kind)) {
                    out.sample(name, &labels, 1, *at);
                }
            }
        }
    }
}

fn jobs(out: &mut MetricsText, of: &MetricFamilies<'_>) {
    let (run, scraped) = (&of.run, of.samples);
    type JobSampleFn = fn(&JobNow) -> Option<f64>;
    let families: [(&str, &str, &str, JobSampleFn); 6] = [
        ("kube_job_created", "", "Unix creation timestamp.", |j| Some(j.created?.seconds())),
        ("kube_job_status_active", "", "The number of actively running pods.", |j| Some(f64::from(j.pods[0]))),
        ("kube_job_status_succeeded", "", "The number of pods which reached Phase Succeeded.", |j| {
            Some(f64::from(j.pods[1]))
        }),
        ("kube_job_status_failed", "", "The number of pods which reached Phase Failed.", |j| {
            Some(f64::from(j.pods[2]))
        }),
        ("kube_job_complete", ",condition=\"true\"", "The job has completed its execution.", |j| {
            j.complete.then_some(1.0)
        }),
        ("kube_job_failed", ",condition=\"true\"", "The job has failed its execution.", |j| j.failed.then_some(1.0)),
    ];
    for (name, more, help, value) in families {
        out.family(name, "gauge", help);
        for (i, job) in run.names.jobs.iter().enumerate() {
            let namespace = label("namespace", run.names.namespace_of(JobId(i as u32)));
            let labels = format!("{namespace},{}{more}", label("job_name", &job.name));
            for (all, at) in scraped.jobs.iter().zip(&scraped.at) {
                let now = all.get(i).filter(|j| j.created.is_some());
                if let Some(value) = now.and_then(value) {
                    out.sample(name, &labels, value, *at);
                }
            }
        }
    }
}

fn pods(out: &mut MetricsText, of: &MetricFamilies<'_>) {
    let (names, scraped) = (of.run.names, of.samples);
    let labels = |p: &sim_analysis::metrics::open_metrics::ScrapedPod| {
        let pod = names.pod(p.job, p.index, p.pod, p.incarnation);
        let namespace = label("namespace", names.namespace_of(p.job));
        format!("{namespace},{}", label("pod", &pod))
    };
    let name = "kube_pod_status_phase";
    out.family(name, "gauge", "The pods current phase.");
    for pod in &scraped.pods {
        let own = labels(pod);
        for (i, phase) in PHASES.iter().enumerate() {
            let labels = format!("{own},{}", label("phase", phase));
            for (scrape, now, _) in &pod.seen {
                let at = scraped.at[*scrape as usize];
                out.sample(name, &labels, u8::from(usize::from(*now) == i), at);
            }
        }
    }
    let name = "kube_pod_status_ready";
    out.family(name, "gauge", "Describes whether the pod is ready to serve requests.");
    for pod in &scraped.pods {
        let labels = format!("{},condition=\"true\"", labels(pod));
        for (scrape, _, ready) in &pod.seen {
            out.sample(name, &labels, u8::from(*ready), scraped.at[*scrape as usize]);
        }
    }
}

fn nodes(out: &mut MetricsText, of: &MetricFamilies<'_>) {
    let name = "kube_node_status_condition";
    out.family(name, "gauge", "The condition of a cluster node.");
    for (i, node) in of.run.names.nodes.iter().enumerate() {
        for (status, state) in [("true", NodeReady::True), ("false", NodeReady::False), ("unknown", NodeReady::Unknown)]
        {
            let labels = format!("{},condition=\"Ready\",{}", label("node", node), label("status", status));
            for (all, at) in of.samples.nodes.iter().zip(&of.samples.at) {
                if let Some(now) = all.get(i) {
                    out.sample(name, &labels, u8::from(*now == state), *at);
                }
            }
        }
    }
}

fn control_plane(out: &mut MetricsText, of: &MetricFamilies<'_>) {
    let scraped = of.samples;
    let name = "workqueue_depth";
    out.family(name, "gauge", "Current depth of workqueue");
    for (queue, resource) in
        [("job", LedgerResource::JobControllerWorkers), ("jobset", LedgerResource::JobSetReconciler)]
    {
        let steps = scraped.queued.queue_lengths(resource);
        let labels = label("name", queue);
        for (scrape, at) in scraped.at.iter().enumerate() {
            let seen = steps.partition_point(|(from, _)| *from as usize <= scrape);
            let depth = seen.checked_sub(1).map_or(0, |i| steps[i].1);
            out.sample(name, &labels, depth, *at);
        }
    }
    let name = "rest_client_rate_limiter_duration_seconds";
    out.family(name, "histogram", "Client side rate limiter latency in seconds. Broken down by verb, and host.");
    for limiter in &scraped.limiters {
        let own = format!("{},{}", label("job", limiter.client), label("verb", &requests::http_method(limiter.verb)));
        let mut sums = [0u64; LIMITER_BOUNDS.len() + 1];
        let mut total = Duration::ZERO;
        for ((counts, waited), at) in limiter.since.iter().zip(&scraped.at) {
            for (sum, n) in sums.iter_mut().zip(counts) {
                *sum += n;
            }
            total = total + *waited;
            let mut below = 0;
            for (i, n) in sums.iter().enumerate() {
                below += n;
                let bound = LIMITER_BOUNDS.get(i).map_or("+Inf".to_owned(), |b| format!("{b:?}"));
                let labels = format!("{own},{}", label("le", &bound));
                out.sample(&format!("{name}_bucket"), &labels, below, *at);
            }
            out.sample(&format!("{name}_count"), &own, below, *at);
            out.sample(&format!("{name}_sum"), &own, total.seconds(), *at);
        }
    }
}
