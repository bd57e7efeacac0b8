//! The members that every line of the event log begins with.

#![deny(missing_docs)]

use super::fields::{Role, Value};
use super::records::Body;
use super::ticket::About;
use sim_base::TextId;

/// The members that every line of the event log begins with.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The object of the record.
    pub about: About,
    /// Kubernetes reason, such as `BackoffLimitExceeded`.
    pub reason: TextId,
    /// Kubernetes message.
    pub message: TextId,
}

impl Body {
    /// Returns the common members of the record's line.
    pub fn head(&self) -> Head {
        let mut head = Head {
            about: About::Nothing,
            reason: TextId::NONE,
            message: TextId::NONE,
        };
        self.fields(&mut |role, value| match (role, value) {
            (Role::Reason, Value::Text(id)) => head.reason = id,
            (Role::Message, Value::Text(id)) => head.message = id,
            (role, value) if role.is_object() && head.about == About::Nothing => {
                head.about = value.about();
            }
            _ => {}
        });
        head
    }
}
