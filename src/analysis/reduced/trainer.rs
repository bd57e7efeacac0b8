//! The training job of one replication: the engine's arithmetic, interrupted by nobody but the model.

use sim_api::spec::{Loss, TrainingJob};
use sim_base::random::{Draws, Key};
use sim_base::*;
use sim_engine::record::{LedgerCategory, TrainingOutcome};
use sim_engine::training_model::{Books, End, Kept, Plan, Spent, plan};

/// Time by category of the ledger.
pub type Times = [u64; LedgerCategory::COUNT];

/// What is under way.
struct Stretch {
    plan: Plan,
    since: Time,
    from: u64,
    /// When its work is done.
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
    /// What its pods' time was, beside that of restarts.
    pub times: Times,
    /// How much less could count, and how much more, had each restart taken as long as any other one.
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

    /// When the work is done if nothing interrupts it.
    pub fn ends(&self) -> Option<Time> {
        self.now.as_ref()?.ends
    }

    /// Every pod is there; `loss`: what it has lost of its hosts.
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

    /// One of its nodes is to be taken for maintenance: it saves after the step at hand.
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

    /// The stretch at hand ends; `loses`: what no checkpoint has saved is taken back. How far it came.
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

    /// An interruption; if it is asked, by how much less or more would have counted if the stretch had been so much
    /// longer or shorter.
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

    /// The work is done.
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
