//! Field tables of ClusterQueue and Cohort.

use super::{METADATA_FIELD, STATUS, VERSION};
use crate::schema::definitions::pod::REQUIREMENTS;
use crate::schema::field_type::FieldType::{Amount, Any, List, NonEmpty, Object, OneOf, Quantity, Str};
use crate::schema::field_type::{FieldSchema, FieldType, INT32, ObjectSchema, STR_LIST, STR_MAP, field, not_modelled};

pub static CLUSTER_QUEUE: ObjectSchema = ObjectSchema {
    kind: "ClusterQueue",
    fields: &[
        VERSION,
        field("kind", OneOf(&["ClusterQueue"])).required(),
        METADATA_FIELD,
        field("spec", Object(&SPEC)).doc("Quotas and policies of the queue."),
        STATUS,
    ],
};

pub static CLUSTER_QUEUE_V1BETA1: ObjectSchema = ObjectSchema {
    kind: "ClusterQueue",
    fields: &[
        VERSION,
        field("kind", OneOf(&["ClusterQueue"])).required(),
        METADATA_FIELD,
        field("spec", Object(&SPEC_V1BETA1)).doc("Quotas and policies of the queue."),
        STATUS,
    ],
};

pub static COHORT: ObjectSchema = ObjectSchema {
    kind: "Cohort",
    fields: &[
        VERSION,
        field("kind", OneOf(&["Cohort"])).required(),
        METADATA_FIELD,
        field("spec", Object(&COHORT_SPEC)).doc("Quotas of the cohort itself."),
        STATUS,
    ],
};

const COHORT_DOC: &str = "Name of the cohort with which the queue shares unused quota.";
const RESOURCE_GROUPS: FieldType = List(&Object(&RESOURCE_GROUP));
const STOP: FieldType = OneOf(&["None", "Hold", "HoldAndDrain"]);

const fn cohort_field(name: &'static str) -> FieldSchema {
    field(name, Str).doc(COHORT_DOC)
}

const COMMON: [FieldSchema; 9] = [
    field("resourceGroups", RESOURCE_GROUPS).doc("Flavors and quotas by group of resources."),
    field("queueingStrategy", OneOf(&["StrictFIFO", "BestEffortFIFO"]))
        .doc("Whether a workload that does not fit blocks younger ones (StrictFIFO).")
        .default("BestEffortFIFO"),
    field("namespaceSelector", Object(&SELECTOR))
        .doc("Selector of the namespaces whose workloads are admitted. An absent selector admits none."),
    field("preemption", Object(&PREEMPTION)).doc("Which workloads may be preempted."),
    field("admissionChecksStrategy", Object(&CHECKS)).doc("Admission checks with the flavors that they apply to."),
    field("stopPolicy", STOP)
        .doc("Whether admission stops, and whether admitted workloads are evicted.")
        .default("None"),
    field("fairSharing", Object(&FAIR_SHARING)).doc("Weight of the queue in its cohort."),
    field("admissionScope", Object(&ADMISSION_SCOPE)).doc("Admission fair sharing among the LocalQueues."),
    not_modelled("concurrentAdmissionPolicy", Any),
];

static SPEC: ObjectSchema = ObjectSchema {
    kind: "ClusterQueueSpec",
    fields: &[
        COMMON[0],
        cohort_field("cohortName"),
        COMMON[1],
        COMMON[2],
        field("flavorFungibility", Object(&FUNGIBILITY)).doc("When the next flavor is tried."),
        COMMON[3],
        COMMON[4],
        COMMON[5],
        COMMON[6],
        COMMON[7],
        COMMON[8],
    ],
};

static SPEC_V1BETA1: ObjectSchema = ObjectSchema {
    kind: "ClusterQueueSpec",
    fields: &[
        COMMON[0],
        cohort_field("cohort"),
        COMMON[1],
        COMMON[2],
        field("flavorFungibility", Object(&FUNGIBILITY_V1BETA1)).doc("When the next flavor is tried."),
        COMMON[3],
        field("admissionChecks", STR_LIST).doc("Admission checks that apply to all flavors."),
        COMMON[4],
        COMMON[5],
        COMMON[6],
        COMMON[7],
    ],
};

static COHORT_SPEC: ObjectSchema = ObjectSchema {
    kind: "CohortSpec",
    fields: &[
        field("parentName", Str).doc("Name of the parent cohort. A cohort without parent is a root."),
        field("resourceGroups", RESOURCE_GROUPS).doc("Quotas that the members share."),
        field("fairSharing", Object(&FAIR_SHARING)).doc("Weight of the cohort in its parent."),
    ],
};

static RESOURCE_GROUP: ObjectSchema = ObjectSchema {
    kind: "ResourceGroup",
    fields: &[
        field("coveredResources", NonEmpty(&Str)).doc("Resources of the group.").required(),
        field("flavors", NonEmpty(&Object(&FLAVOR_QUOTAS)))
            .doc("Flavors, in the order in which they are tried.")
            .required(),
    ],
};

static FLAVOR_QUOTAS: ObjectSchema = ObjectSchema {
    kind: "FlavorQuotas",
    fields: &[
        field("name", Str).doc("Name of the ResourceFlavor.").required(),
        field("resources", NonEmpty(&Object(&QUOTA))).doc("Quotas in the order of coveredResources.").required(),
    ],
};

static QUOTA: ObjectSchema = ObjectSchema {
    kind: "ResourceQuota",
    fields: &[
        field("name", Str).doc("Name of the resource.").required(),
        field("nominalQuota", Amount).doc("Quota of the queue.").required().example("\"8\""),
        field("borrowingLimit", Amount).doc("Largest amount borrowed from the cohort. If absent, unlimited."),
        field("lendingLimit", Amount).doc("Largest amount lent to the cohort. If absent, the nominal quota."),
    ],
};

static PREEMPTION: ObjectSchema = ObjectSchema {
    kind: "ClusterQueuePreemption",
    fields: &[
        field("reclaimWithinCohort", OneOf(&["Never", "LowerPriority", "Any"]))
            .doc("Which workloads of other queues are preempted to reclaim the nominal quota.")
            .default("Never"),
        field("borrowWithinCohort", Object(&BORROWING)).doc("Whether a workload that borrows may preempt others."),
        field("withinClusterQueue", OneOf(&["Never", "LowerPriority", "LowerOrNewerEqualPriority"]))
            .doc("Which workloads of the same queue may be preempted.")
            .default("Never"),
    ],
};

static BORROWING: ObjectSchema = ObjectSchema {
    kind: "BorrowWithinCohort",
    fields: &[
        field("policy", OneOf(&["Never", "LowerPriority"]))
            .doc("Which workloads a borrowing workload preempts.")
            .default("Never"),
        field("maxPriorityThreshold", INT32).doc("Highest priority of the preempted workloads."),
    ],
};

const PREFERENCE: FieldSchema = field("preference", OneOf(&["BorrowingOverPreemption", "PreemptionOverBorrowing"]))
    .doc("Preference between flavors, if both policies are TryNextFlavor.");

static FUNGIBILITY: ObjectSchema = ObjectSchema {
    kind: "FlavorFungibility",
    fields: &[
        field("whenCanBorrow", OneOf(&["MayStopSearch", "TryNextFlavor"]))
            .doc("Whether the search stops at a flavor that fits by borrowing.")
            .default("MayStopSearch"),
        field("whenCanPreempt", OneOf(&["MayStopSearch", "TryNextFlavor"]))
            .doc("Whether the search stops at a flavor that fits by preemption.")
            .default("TryNextFlavor"),
        PREFERENCE,
    ],
};

static FUNGIBILITY_V1BETA1: ObjectSchema = ObjectSchema {
    kind: "FlavorFungibility",
    fields: &[
        field("whenCanBorrow", OneOf(&["MayStopSearch", "TryNextFlavor", "Borrow"]))
            .doc("Whether the search stops at a flavor that fits by borrowing.")
            .default("MayStopSearch"),
        field("whenCanPreempt", OneOf(&["MayStopSearch", "TryNextFlavor", "Preempt"]))
            .doc("Whether the search stops at a flavor that fits by preemption.")
            .default("TryNextFlavor"),
        PREFERENCE,
    ],
};

static CHECKS: ObjectSchema = ObjectSchema {
    kind: "AdmissionChecksStrategy",
    fields: &[field("admissionChecks", List(&Object(&CHECK))).doc("Rules, one per check.")],
};

static CHECK: ObjectSchema = ObjectSchema {
    kind: "AdmissionCheckStrategyRule",
    fields: &[
        field("name", Str).doc("Name of the AdmissionCheck.").required(),
        field("onFlavors", STR_LIST).doc("Flavors that the check applies to. An empty list means all."),
    ],
};

pub static FAIR_SHARING: ObjectSchema = ObjectSchema {
    kind: "FairSharing",
    fields: &[field("weight", Quantity).doc("Weight in fair sharing.").default("1")],
};

static ADMISSION_SCOPE: ObjectSchema = ObjectSchema {
    kind: "AdmissionScope",
    fields: &[field("admissionMode", OneOf(&["UsageBasedAdmissionFairSharing", "NoAdmissionFairSharing"]))
        .doc("Whether workloads are ordered by the usage of their LocalQueues.")
        .required()],
};

pub static SELECTOR: ObjectSchema = ObjectSchema {
    kind: "LabelSelector",
    fields: &[
        field("matchLabels", STR_MAP).doc("Labels with the required values."),
        field("matchExpressions", REQUIREMENTS).doc("Requirements on labels, all of which must match."),
    ],
};

pub const STOP_POLICY: FieldSchema = COMMON[5];
