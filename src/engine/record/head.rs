//! The members that every line of the event log begins with.

#![deny(missing_docs)]

use super::fields::{FieldRole, FieldValue};
use super::records::Body;
use super::ticket::TicketSubject;
use sim_base::TextId;

/// The members that every line of the event log begins with.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RecordHead {
    /// The object of the record.
    pub subject: TicketSubject,
    /// Kubernetes reason, such as `BackoffLimitExceeded`.
    pub reason: TextId,
    /// Message in the wording of Kubernetes.
    pub message: TextId,
}

impl Body {
    /// Returns the common members of the record's line.
    pub fn head(&self) -> RecordHead {
        let mut head = RecordHead { subject: TicketSubject::Nothing, reason: TextId::NONE, message: TextId::NONE };
        self.fields(&mut |role, value| match (role, value) {
            (FieldRole::Reason, FieldValue::Text(id)) => head.reason = id,
            (FieldRole::Message, FieldValue::Text(id)) => head.message = id,
            (role, value) if role.is_object() && head.subject == TicketSubject::Nothing => {
                head.subject = value.subject();
            }
            _ => {}
        });
        head
    }
}
