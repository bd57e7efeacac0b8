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

#[test]
fn manifests_of_every_generator_run_on_the_topology_of_their_platform() {
    let dir = scratch("platforms");
    for (generator, topology, jobset) in CASES {
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
    for part in ["untolerated taint", "nvidia.com/gpu", "fits is gke-a3-mega (144 nodes): -t gke-a3-mega"] {
        assert!(text.contains(part), "{text}");
    }
    std::fs::remove_dir_all(dir).unwrap();
}
