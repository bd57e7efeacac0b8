//! The fields of records, generically: what `records!` makes of its table, so that the digest and the event log need no
//! edit for a new kind.
//!
//! Must never know a single kind.

#![deny(missing_docs)]

use super::ticket::About;
use sim_base::*;
use sim_policy::kinds::*;

/// What a field of a record is on its line in `events.ndjson`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// Whom the line is about: the first such field that names somebody.
    Object,
    /// The same; the kind of the object is a member of this name.
    ObjectAndKind(&'static str),
    /// The same; if it names somebody, it is a member too.
    ObjectAndMember(&'static str),
    /// The line's `reason`.
    Reason,
    /// The line's `message`.
    Message,
    /// A member of this name.
    Member(&'static str),
    /// Only in the digest.
    Unwritten,
}

impl Role {
    pub(super) fn is_object(self) -> bool {
        use Role::*;
        matches!(self, Object | ObjectAndKind(_) | ObjectAndMember(_))
    }

    /// The name of the member that it makes, if it makes one.
    pub fn member(self) -> Option<&'static str> {
        match self {
            Role::Member(name) | Role::ObjectAndKind(name) | Role::ObjectAndMember(name) => {
                Some(name)
            }
            Role::Object | Role::Reason | Role::Message | Role::Unwritten => None,
        }
    }
}

/// What a field holds.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A JobSet.
    JobSet(JobSetId),
    /// A Job.
    Job(JobId),
    /// A pod.
    Pod(PodId),
    /// A node.
    Node(NodeId),
    /// A text.
    Text(TextId),
    /// A number.
    Number(u32),
    /// A number that may be negative.
    Signed(i32),
    /// A length of virtual time.
    Nanoseconds(u64),
    /// A yes or no.
    Flag(bool),
    /// One of a few words, with its number among them.
    Word(u32, &'static str),
}

impl Value {
    /// The word with this number; numbers beyond the list mean the last one.
    pub fn word(number: u32, words: &[&'static str]) -> Value {
        let at = (number as usize).min(words.len().saturating_sub(1));
        Value::Word(number, words.get(at).copied().unwrap_or_default())
    }

    /// Somebody, if it names one.
    pub fn about(self) -> About {
        match self {
            Value::JobSet(id) if id.is_some() => About::JobSet(id),
            Value::Job(id) if id.is_some() => About::Job(id),
            Value::Pod(id) if id.is_some() => About::Pod(id),
            Value::Node(id) if id.is_some() => About::Node(id),
            _ => About::Nothing,
        }
    }
}

macro_rules! values {
    ($($type:ty: $make:expr;)*) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Value {
                let make: fn($type) -> Value = $make;
                make(value)
            }
        }
    )*};
}

values! {
    JobSetId: Value::JobSet;
    JobId: Value::Job;
    PodId: Value::Pod;
    NodeId: Value::Node;
    TextId: Value::Text;
    u32: Value::Number;
    i32: Value::Signed;
    Duration: |d| Value::Nanoseconds(d.0);
    bool: Value::Flag;
    JobSetConditionType: |k| Value::Word(k as u32, k.as_str());
    JobConditionType: |k| Value::Word(k as u32, k.as_str());
    Deleter: |d| Value::Word(d as u32, d.as_str());
    NodeReady: |r| Value::Word(r as u32, r.as_str());
    EndReason: |r| Value::Word(r as u32, r.as_str());
    ObjectRef: |object| match object {
        ObjectRef::JobSet(id) => Value::JobSet(id),
        ObjectRef::Job(id) => Value::Job(id),
        ObjectRef::Pod(id) => Value::Pod(id),
    };
}

/// A role as the table writes it.
macro_rules! role {
    (object) => {
        Role::Object
    };
    ((object, kind = $name:literal)) => {
        Role::ObjectAndKind($name)
    };
    ((object, $name:literal)) => {
        Role::ObjectAndMember($name)
    };
    (reason) => {
        Role::Reason
    };
    (message) => {
        Role::Message
    };
    (unwritten) => {
        Role::Unwritten
    };
    ($name:literal) => {
        Role::Member($name)
    };
}

/// A role in words, for the documentation of the field.
macro_rules! about_field {
    (object) => {
        "Whom it is about."
    };
    ((object, kind = $name:literal)) => {
        concat!(
            "Whom it is about; `",
            $name,
            "` in `events.ndjson` is its kind."
        )
    };
    ((object, $name:literal)) => {
        concat!(
            "Whom it is about, if it names somebody; also `",
            $name,
            "` in `events.ndjson`."
        )
    };
    (reason) => {
        "Kubernetes' reason."
    };
    (message) => {
        "Kubernetes' message."
    };
    (unwritten) => {
        "In no line of `events.ndjson`."
    };
    ($name:literal) => {
        concat!("`", $name, "` in `events.ndjson`.")
    };
}

macro_rules! value {
    ($field:ident) => {
        Value::from($field)
    };
    ($field:ident $words:expr) => {
        Value::word(u32::from($field), &$words)
    };
}

/// Declares `Body` from the table of all kinds: each field with its type and its role.
macro_rules! records {
    ($(
        $(#[$about:meta])*
        $kind:ident {
            $($(#[$note:meta])* $field:ident: $type:ty = $role:tt $(as $words:tt)?),* $(,)?
        }
    )*) => {
        /// What happened.
        #[derive(Copy, Clone, Debug, PartialEq, Eq)]
        pub enum Body {
            $($(#[$about])* $kind { $($(#[$note])* #[doc = about_field!($role)] $field: $type),* },)*
        }

        impl Body {
            /// Every kind with the roles of its fields, in order.
            pub const KINDS: &[(&str, &[Role])] = &[
                $((stringify!($kind), &[$(role!($role)),*])),*
            ];

            /// The name of the kind.
            pub fn kind(&self) -> &'static str {
                match self { $(Body::$kind { .. } => stringify!($kind)),* }
            }

            /// Stands for the kind in the digest.
            pub(super) fn kind_word(&self) -> u64 {
                match self { $(Body::$kind { .. } => const { of_text(stringify!($kind)) }),* }
            }

            /// Calls `visit` for each field, in the order of the line.
            pub fn fields(&self, visit: &mut impl FnMut(Role, Value)) {
                match *self {
                    $(Body::$kind { $($field),* } => {
                        $(visit(role!($role), value!($field $($words)?));)*
                    })*
                }
            }
        }
    };
}

pub(super) use {about_field, records, role, value};
