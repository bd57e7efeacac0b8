//! The object that the validating webhook checks, and accessors for it.

use crate::admission::AdmissionGates;
use serde_json::Value;

pub struct ObjectWebhook<'a> {
    /// Object as stored, in which an empty list still differs from a missing one.
    pub object: &'a Value,
    pub name: &'a str,
    pub spec: &'a Value,
    pub gates: AdmissionGates,
}

pub fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub fn text_field<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or("")
}

pub fn number_field(value: &Value, key: &str) -> i64 {
    value[key].as_i64().unwrap_or(0)
}

impl<'a> ObjectWebhook<'a> {
    pub fn jobs(&self) -> &'a [Value] {
        items(&self.spec["replicatedJobs"])
    }

    pub fn job(&self, name: &str) -> Option<&'a Value> {
        self.jobs().iter().find(|j| text_field(j, "name") == name)
    }

    pub fn job_names(&self) -> impl Iterator<Item = &'a str> {
        self.jobs().iter().map(|j| text_field(j, "name"))
    }
}
