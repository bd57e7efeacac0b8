//! Ports of a node that containers use.

use serde_json::Value;
use sim_api::objects::value_access::{int, list, text};
use std::fmt;

const ANY_ADDRESS: &str = "0.0.0.0";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPort {
    address: String,
    protocol: String,
    port: i64,
}

impl HostPort {
    /// Returns the host ports of the containers and sidecars of a stored pod.
    pub fn read_all(spec: &Value) -> Vec<HostPort> {
        let sidecars = list(spec, "initContainers").iter().filter(|c| text(c, "restartPolicy") == "Always");
        let containers = list(spec, "containers").iter().chain(sidecars);
        let ports = containers.flat_map(|c| list(c, "ports")).filter(|p| int(p, "hostPort").unwrap_or(0) > 0);
        let or = |value: &str, default: &str| if value.is_empty() { default.to_owned() } else { value.to_owned() };
        let read = |port: &Value| HostPort {
            address: or(text(port, "hostIP"), ANY_ADDRESS),
            protocol: or(text(port, "protocol"), "TCP"),
            port: int(port, "hostPort").unwrap_or(0),
        };
        ports.map(read).collect()
    }

    pub fn conflicts_with(&self, other: &HostPort) -> bool {
        let any = self.address == ANY_ADDRESS || other.address == ANY_ADDRESS;
        self.port == other.port && self.protocol == other.protocol && (any || self.address == other.address)
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address.as_str() {
            ANY_ADDRESS => write!(f, "{}/{}", self.port, self.protocol),
            address => write!(f, "{}/{} of {address}", self.port, self.protocol),
        }
    }
}
