//! The objects that admission looks up for a pod.

use serde_json::Value;

/// Objects of the cluster that affect the admission of a pod.
#[derive(Clone, Debug, Default)]
pub struct ObjectContext<'a> {
    /// PriorityClass objects. The two system classes always exist and are not included.
    pub priority_classes: &'a [Value],
    /// Names of the RuntimeClasses in the cluster.
    pub runtime_classes: &'a [String],
    /// Namespaces and names of the ServiceAccounts. If there are none, every account is assumed to exist.
    pub service_accounts: &'a [(String, String)],
    /// Pods of the namespace, among which the leader is looked up.
    pub pods: &'a [Value],
    pub nodes: &'a [Value],
}
