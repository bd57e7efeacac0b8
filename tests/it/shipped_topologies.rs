//! Shipped topologies: one manifest in the style of each generator runs unmodified on the topology of its platform, and
//! a manifest for another platform is refused with the reason and a topology that fits.

use crate::program::{program, scratch};

/// A JobSet with the properties that select nodes.
struct PlatformJobSet {
    /// Number of Jobs and of pods in each.
    size: (u32, u32),
    /// Key of exclusive placement.
    exclusive: Option<&'static str>,
    /// Fields of the pod template as a YAML flow mapping without braces.
    pod: &'static str,
    /// Resources of the container.
    limits: &'static str,
}

fn manifest(jobset: &PlatformJobSet) -> String {
    let (jobs, pods) = jobset.size;
    let annotation = jobset
        .exclusive
        .map_or(String::new(), |key| format!(", annotations: {{alpha.jobset.sigs.k8s.io/exclusive-topology: {key}}}"));
    format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: train{annotation}}}\nspec:\n  \
         failurePolicy: {{maxRestarts: 3}}\n  replicatedJobs:\n  - name: worker\n    replicas: {jobs}\n    template:\n      \
         spec:\n        parallelism: {pods}\n        completions: {pods}\n        backoffLimit: 0\n        template:\n          \
         spec: {{restartPolicy: Never, {}containers: [{{name: main, image: 'registry/train:1', resources: {{limits: {{{}}}, \
         requests: {{{}}}}}}}]}}\n",
        jobset.pod, jobset.limits, jobset.limits
    )
}

const NODE_POOL: Option<&str> = Some("cloud.google.com/gke-nodepool");

/// The generator, its topology, and its JobSet.
const CASES: &[(&str, &str, PlatformJobSet)] = &[
    (
        "xpk",
        "tpu-v5p-17x64",
        PlatformJobSet {
            size: (16, 64),
            exclusive: NODE_POOL,
            pod: "nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu-v5p-slice, cloud.google.com/gke-tpu-topology: \
                  4x8x8}, tolerations: [{key: google.com/tpu, operator: Exists}], hostNetwork: true, ",
            limits: "google.com/tpu: 4",
        },
    ),
    (
        "GKE multislice",
        "tpu-v6e-64",
        PlatformJobSet {
            size: (4, 16),
            exclusive: NODE_POOL,
            pod: "nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: \
                  8x8}, ",
            limits: "google.com/tpu: 4",
        },
    ),
    (
        "GKE cubes",
        "tpu7x-5000",
        PlatformJobSet {
            size: (4, 16),
            exclusive: NODE_POOL,
            pod: "nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu7x, cloud.google.com/gke-tpu-topology: 4x4x4}, ",
            limits: "google.com/tpu: 4, cpu: 200, memory: 900Gi",
        },
    ),
    (
        "axlearn on TPUs",
        "gke-tpu-v6e",
        PlatformJobSet {
            size: (2, 64),
            exclusive: NODE_POOL,
            pod: "nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: \
                  16x16}, terminationGracePeriodSeconds: 100, ",
            limits: "google.com/tpu: 4",
        },
    ),
    (
        "axlearn and xpk on GPUs",
        "gke-a3-mega",
        PlatformJobSet {
            size: (1, 64),
            exclusive: None,
            pod: "nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-mega-80gb}, tolerations: \
                  [{key: nvidia.com/gpu, operator: Equal, value: present, effect: NoSchedule}], ",
            limits: "nvidia.com/gpu: 8",
        },
    ),
    (
        "EKS",
        "eks-p6-b200",
        PlatformJobSet {
            size: (4, 16),
            exclusive: Some("topology.k8s.aws/network-node-layer-3"),
            pod: "nodeSelector: {node.kubernetes.io/instance-type: p6-b200.48xlarge}, ",
            limits: "nvidia.com/gpu: 8, vpc.amazonaws.com/efa: 8, memory: 1900Gi",
        },
    ),
    (
        "NeMo",
        "gpu-h100-256",
        PlatformJobSet {
            size: (4, 32),
            exclusive: Some("fabric.topograph.run/tier-0"),
            pod: "nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}, tolerations: [{key: nvidia.com/gpu, \
                  operator: Exists, effect: NoSchedule}], ",
            limits: "nvidia.com/gpu: 8",
        },
    ),
    (
        "torchrun on racks",
        "aks-gb300",
        PlatformJobSet {
            size: (8, 16),
            exclusive: Some("nvidia.com/gpu.clique"),
            pod: "nodeSelector: {kubernetes.azure.com/agentpool: gb300}, ",
            limits: "nvidia.com/gpu: 4",
        },
    ),
    (
        "torchrun on NVL72",
        "gpu-nvl72-1152",
        PlatformJobSet {
            size: (32, 16),
            exclusive: Some("nvidia.com/gpu.clique"),
            pod: "tolerations: [{key: nvidia.com/gpu, operator: Exists}], ",
            limits: "nvidia.com/gpu: 4",
        },
    ),
];

/// A JobSet with four slices of TPUs, as xpk, axlearn and the tutorials of GKE write it.
const fn slices(pods: u32, pod: &'static str, limits: &'static str) -> PlatformJobSet {
    PlatformJobSet { size: (4, pods), exclusive: NODE_POOL, pod, limits }
}

/// A JobSet whose pods are placed without exclusive placement.
const fn pods(pods: u32, pod: &'static str, limits: &'static str) -> PlatformJobSet {
    PlatformJobSet { size: (1, pods), exclusive: None, pod, limits }
}

/// More machines of the same generators.
const MACHINES: &[(&str, &str, PlatformJobSet)] = &[
    (
        "GKE multislice on v5e",
        "gke-tpu-v5e",
        slices(
            4,
            "nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu-v5-lite-podslice, \
             cloud.google.com/gke-tpu-topology: 4x4}, ",
            "google.com/tpu: 4",
        ),
    ),
    (
        "GKE single-host v5e",
        "gke-tpu-v5e",
        pods(
            1,
            "nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu-v5-lite-podslice, \
             cloud.google.com/gke-tpu-topology: 2x4}, ",
            "google.com/tpu: 8",
        ),
    ),
    (
        "xpk on TPU7x",
        "gke-tpu-7x",
        slices(
            32,
            "nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu7x, cloud.google.com/gke-tpu-topology: 4x4x8}, ",
            "google.com/tpu: 4",
        ),
    ),
    ("Pathways of xpk on v5p", "gke-tpu-v5p", pods(8, XPK_HEAD, "cpu: 48, memory: 216G")),
    ("Pathways of xpk on v6e", "gke-tpu-v6e", pods(8, XPK_HEAD, "cpu: 48, memory: 216G")),
    ("Pathways of xpk on cubes", "tpu7x-5000", pods(8, XPK_HEAD, "cpu: 48, memory: 216G")),
    (
        "Pathways of axlearn",
        "gke-tpu-v6e",
        pods(2, "nodeSelector: {axlearn/nodepool_type: workload}, ", "cpu: 40, memory: 200Gi"),
    ),
    (
        "healthy cubes of GKE dynamic slicing",
        "tpu7x-5000",
        slices(
            16,
            "nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu7x, \
             cloud.google.com/gke-tpu-partition-4x4x4-state: HEALTHY}, ",
            "google.com/tpu: 4",
        ),
    ),
    (
        "xpk on A3 High",
        "gke-a3-high",
        pods(16, "nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}, ", "nvidia.com/gpu: 8"),
    ),
    (
        "Cluster Toolkit on A3 Ultra",
        "gke-a3-ultra",
        pods(4, "nodeSelector: {cloud.google.com/gke-nodepool: a3-ultragpu-8g-a3-ultragpu-pool}, ", "nvidia.com/gpu: 8"),
    ),
    (
        "Cluster Toolkit on A4",
        "gke-a4",
        pods(2, "nodeSelector: {cloud.google.com/gke-nodepool: a4-highgpu-8g-a4-pool}, ", "nvidia.com/gpu: 8"),
    ),
    (
        "NeMo on A4X",
        "gke-a4x",
        PlatformJobSet {
            size: (4, 16),
            exclusive: Some("cloud.google.com/gce-topology-subblock"),
            pod: "tolerations: [{key: nvidia.com/gpu, operator: Exists}, {key: kubernetes.io/arch, operator: Equal, \
                  value: arm64, effect: NoSchedule}], affinity: {nodeAffinity: \
                  {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: \
                  [{key: kubernetes.io/arch, operator: In, values: [arm64]}]}]}}}, ",
            limits: "nvidia.com/gpu: 4",
        },
    ),
    (
        "Cluster Toolkit on A4X Max",
        "gke-a4x-max",
        pods(
            2,
            "nodeSelector: {cloud.google.com/gke-accelerator: nvidia-gb300}, tolerations: [{key: kubernetes.io/arch, \
             operator: Equal, value: arm64, effect: NoSchedule}], ",
            "nvidia.com/gpu: 4",
        ),
    ),
    (
        "torchrun on EKS",
        "eks-p5",
        pods(
            8,
            "nodeSelector: {node.kubernetes.io/instance-type: p5.48xlarge}, ",
            "nvidia.com/gpu: 8, vpc.amazonaws.com/efa: 32",
        ),
    ),
];

/// The selector of the head pods of Pathways in the manifests of xpk.
const XPK_HEAD: &str = "nodeSelector: {cloud.google.com/gke-nodepool: cpu-np}, ";

#[test]
fn manifests_of_every_generator_run_on_the_topology_of_their_platform() {
    let dir = scratch("platforms");
    for (generator, topology, jobset) in CASES.iter().chain(MACHINES) {
        let file = dir.join("jobset.yaml");
        std::fs::write(&file, manifest(jobset)).unwrap();
        let output = program(&["run", "-f", file.to_str().unwrap(), "-t", topology]).output().unwrap();
        let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{generator}: {errors}{text}");
        assert!(text.contains("every pod is ready"), "{generator}: {text}");
    }
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_manifest_for_another_platform_is_refused_with_the_reason_and_a_topology_that_fits() {
    let dir = scratch("refused");
    let refused = |jobset: &PlatformJobSet, topology: &str| {
        let file = dir.join("jobset.yaml");
        std::fs::write(&file, manifest(jobset)).unwrap();
        let output = program(&["run", "-f", file.to_str().unwrap(), "-t", topology]).output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{topology}");
        String::from_utf8_lossy(&output.stderr).replace('\n', " ")
    };
    let case = |name: &str| &CASES.iter().find(|(generator, ..)| *generator == name).unwrap().2;
    // A label, its value, a resource, and a domain.
    for (name, topology, parts) in [
        ("NeMo", "tpu-v6e-64", ["nvidia.com/gpu", "-t gpu-h100-256"]),
        ("xpk", "tpu-v6e-64", ["tpu-v5p-slice", "-t tpu-v5p-17x64"]),
        ("EKS", "gke-a3-mega", ["vpc.amazonaws.com/efa", "-t eks-p6-b200"]),
        ("torchrun on NVL72", "gpu-h100-256", ["nvidia.com/gpu.clique", "-t gpu-nvl72-1152"]),
    ] {
        let text = refused(case(name), topology);
        assert!(parts.iter().all(|part| text.contains(part)), "{name}: {text}");
    }
    // A taint.
    let plain = PlatformJobSet { size: (1, 4), exclusive: None, pod: "", limits: "nvidia.com/gpu: 8" };
    let text = refused(&plain, "gpu-h100-256");
    for part in ["untolerated taint", "nvidia.com/gpu", "fits is gke-a3-high (144 nodes): -t gke-a3-high"] {
        assert!(text.contains(part), "{text}");
    }
    std::fs::remove_dir_all(dir).unwrap();
}

/// Returns the options after `-t` of a refusal, without the single quotes of a shell.
fn suggested_options(refusal: &str) -> Vec<String> {
    let (_, options) = refusal.split_once("With these labels: ").expect("a suggested command");
    let options = options.split(". Without -t").next().expect("the end of the command");
    options.split_whitespace().map(|word| word.trim_matches('\'').to_owned()).collect()
}

#[test]
fn a_refusal_names_the_nearest_topology_and_a_command_for_lacking_labels() {
    let dir = scratch("nearest");
    let file = dir.join("jobset.yaml");
    let run = |jobset: &PlatformJobSet, options: &[String]| {
        std::fs::write(&file, manifest(jobset)).unwrap();
        let options = options.iter().map(String::as_str);
        let words: Vec<&str> = ["run", "-f", file.to_str().unwrap()].into_iter().chain(options).collect();
        let output = program(&words).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        (output.status.code(), text)
    };
    let on = |topology: &str| vec!["-t".to_owned(), topology.to_owned()];
    let own_pool = slices(
        16,
        "nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: 8x8, \
         provisioner-nodepool-id: train, job-priority: \"5\"}, ",
        "google.com/tpu: 4",
    );
    let own_group = pods(
        4,
        "nodeSelector: {eks.amazonaws.com/nodegroup: mine, node.kubernetes.io/instance-type: p5.48xlarge}, ",
        "nvidia.com/gpu: 8, vpc.amazonaws.com/efa: 32",
    );
    let own_slice = PlatformJobSet {
        size: (1, 4),
        exclusive: NODE_POOL,
        pod: "nodeSelector: {cloud.google.com/gke-nodepool: mine, cloud.google.com/gke-tpu-accelerator: \
              tpu-v5-lite-podslice, cloud.google.com/gke-tpu-topology: 4x4}, ",
        limits: "google.com/tpu: 4",
    };
    // The given topology, the JobSet, and parts of the message.
    for (given, jobset, parts) in [
        (
            "gke-tpu-v6e",
            own_pool,
            ["nearest shipped topology is gke-tpu-v6e", "label the node provisioner-nodepool-id=train"],
        ),
        ("gke-a4", own_group, ["nearest shipped topology is eks-p5", "label the node eks.amazonaws.com/nodegroup=mine"]),
        ("gke-a4", own_slice, ["nearest shipped topology is gke-tpu-v5e", ".count=1"]),
    ] {
        let (code, text) = run(&jobset, &on(given));
        assert_eq!(code, Some(4), "{text}");
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        let (code, text) = run(&jobset, &suggested_options(&text));
        assert_eq!(code, Some(0), "{text}");
    }
    // A resource that no topology has, and more pods than the largest topology with these nodes holds.
    let fpga = pods(1, "", "example.com/fpga: 1");
    let many = pods(500, "nodeSelector: {cloud.google.com/gke-accelerator: nvidia-b200}, ", "nvidia.com/gpu: 8");
    for (jobset, parts) in [
        (fpga, ["example.com/fpga", "nearest shipped topology is"]),
        (many, ["nearest shipped topology is gke-a4", "500 pods, and the empty cluster holds 128 of them"]),
    ] {
        let (code, text) = run(&jobset, &on("small-16"));
        assert_eq!(code, Some(4), "{text}");
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        assert!(!text.contains("With these labels"), "{text}");
    }
    std::fs::remove_dir_all(dir).unwrap();
}
