//! The training job of one replication, with the arithmetic of the engine; only the model interrupts it.

use sim_api::spec::{Loss, TrainingJob};
use sim_base::random::{Draws, Key};
use sim_base::*;
use sim_engine::record::{LedgerCategory, TrainingOutcome};
use sim_engine::training_model::{Books, End, Kept, Plan, Spent, plan};

/// Time by category of the ledger.
pub type Times = [u64; LedgerCategory::COUNT];

/// The current segment.
struct Stretch {
    plan: Plan,
    since: Time,
    from: u64,
    /// Completion time of its work.
    ends: Option<Time>,
}

/// The training job of one replication.
pub struct Trainer<'a> {
    spec: &'a TrainingJob,
    key: Key,
    kept: Kept<()>,
    pub books: Books,
    reached: u64,
    starts: u32,
    now: Option<Stretch>,
    /// Time of its pods outside of restarts.
    pub times: Times,
    /// Error bound of the productive time, due to the spread of restart times.
    pub doubt: u64,
}

impl<'a> Trainer<'a> {
    pub fn new(spec: &'a TrainingJob, key: Key) -> Trainer<'a> {
        Trainer {
            spec,
            key,
            kept: Kept::of(spec),
            books: Books::default(),
            reached: 0,
            starts: 0,
            now: None,
            times: [0; LedgerCategory::COUNT],
            doubt: 0,
        }
    }

    pub fn runs(&self) -> bool {
        self.now.is_some()
    }

    /// Completion time of the work without interruptions.
    pub fn ends(&self) -> Option<Time> {
        self.now.as_ref()?.ends
    }

    /// All pods are ready; `loss` describes the lost hosts.
    pub fn begin(&mut self, now: Time, loss: Loss, draws: &mut Draws) {
        for ((), ns) in self.kept.loses(loss, self.spec) {
            self.take_back(ns);
        }
        let newest = self.kept.newest();
        let plan = plan(self.spec, (self.starts, newest), (self.key, draws));
        self.starts += 1;
        self.books.begins(now);
        let ends = plan.takes().and_then(|takes| now.0.checked_add(takes));
        self.now = Some(Stretch {
            plan,
            since: now,
            from: newest.0,
            ends: ends.map(Time),
        });
    }

    /// Maintenance of one of its nodes was announced: it saves after the current step.
    pub fn notice(&mut self, now: Time) {
        let spec = self.spec;
        let Some(stretch) = self.now.as_mut().filter(|_| spec.save_at_notice) else {
            return;
        };
        let done = stretch.plan.at(now.since(stretch.since).0).done;
        stretch.plan.saves_after(spec.in_steps(Duration(done)).0);
        let takes = stretch.plan.takes();
        stretch.ends = takes
            .and_then(|takes| stretch.since.0.checked_add(takes))
            .map(Time);
    }

    fn take_back(&mut self, ns: u64) {
        self.books.take_back(ns);
        self.times[LedgerCategory::Productive as usize] -= ns;
        self.times[LedgerCategory::Lost as usize] += ns;
    }

    /// Ends the current segment; with `loses`, unsaved progress is undone. Returns the progress reached.
    pub fn end_stretch(&mut self, now: Time, loses: bool) -> Option<u64> {
        let stretch = self.now.take()?;
        let spent = stretch.plan.at(now.since(stretch.since).0);
        let again = self.reached.saturating_sub(stretch.from).min(spent.done);
        let again = stretch.plan.stepped(again).min(spent.stepping);
        let reached = stretch.from + spent.done;
        self.reached = self.reached.max(reached);
        let end = End {
            loses,
            again,
            hang: 0,
            reinitialized: false,
            unused: (0, 1),
        };
        let booked = self.books.ends(now, &spent, &end);
        for (category, ns) in booked.elsewhere {
            self.times[category as usize] += ns;
        }
        self.times[LedgerCategory::Productive as usize] += booked.productive;
        self.kept
            .add(stretch.from, &spent.saved, (booked.productive, ()));
        Some(reached)
    }

    /// An interruption. `either_way` requests the change of productive time if the segment were that much longer or
    /// shorter.
    pub fn interrupt(&mut self, now: Time, either_way: Option<u64>) {
        if let Some((stretch, either_way)) = self.now.as_ref().zip(either_way) {
            let ran = now.since(stretch.since).0;
            let counts = |spent: Spent| spent.kept - spent.excess_kept.iter().sum::<u64>();
            let here = counts(stretch.plan.at(ran));
            let more = counts(stretch.plan.at(ran.saturating_add(either_way)));
            let less = counts(stretch.plan.at(ran.saturating_sub(either_way)));
            self.doubt += (more - here).max(here - less);
        }
        self.end_stretch(now, true);
    }

    /// The work is complete.
    pub fn finish(&mut self, now: Time) {
        self.end_stretch(now, false);
        self.books.done();
    }

    /// The end of the run.
    pub fn close(&mut self, now: Time, jobset: JobSetId) -> TrainingOutcome {
        let reached = self.end_stretch(now, false);
        let kept = Duration(self.kept.durable());
        let reached = Duration(reached.unwrap_or(self.kept.newest().0));
        self.books.outcome(now, self.spec, (jobset, reached, kept))
    }
}
