//! Wrong rules that a test plants, to see that a comparison with the real system finds them. Not in any build but the
//! unit tests'.

use std::cell::Cell;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// FP-7: one restart more than maxRestarts allows.
    OneRestartMore,
    /// SP-2: All is met by any.
    AllIsAny,
    /// SU-2: InOrder creates everything at once.
    OutOfOrder,
    /// kubernetes.md 1.4: a Job is Failed before its pods have ended.
    FailsAtOnce,
}

impl Wrong {
    pub const ALL: [Wrong; 4] = [
        Wrong::OneRestartMore,
        Wrong::AllIsAny,
        Wrong::OutOfOrder,
        Wrong::FailsAtOnce,
    ];

    pub fn is_planted(self) -> bool {
        PLANTED.get() == Some(self)
    }

    /// Runs `f` with this rule planted, on this thread.
    pub fn plant<T>(self, f: impl FnOnce() -> T) -> T {
        PLANTED.set(Some(self));
        let result = f();
        PLANTED.set(None);
        result
    }
}

thread_local! {
    static PLANTED: Cell<Option<Wrong>> = const { Cell::new(None) };
}
