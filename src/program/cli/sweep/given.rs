//! A sweep as it was asked for: inputs, axes, how often; and what a point of it is.

use crate::cli::args::{OverArgs, PlayArgs};
use crate::cli::inputs::subject::{Given, Loaded, Sets};
use crate::cli::inputs::variants::Until;
use crate::cli::inputs::{self, Inputs};
use crate::cli::{Failure, output};
use sim_analysis::experiment::Subject;
use sim_analysis::sweep;
use sim_analysis::sweep::{Identity, Points, Target};
use sim_api::spec::{Axis, Over, SubmittedJobSet, SweepSpec};
use sim_inputs::strategy;

/// Replications of each point, unless it is said.
const REPLICATIONS: u64 = 20;
/// With `--until`: when to give up.
const UNTIL_MAX: u64 = 100_000;
/// More rows are not held in memory.
const ROWS_MAX: u64 = 10_000_000;

pub struct Sweep {
    given: Given,
    baseline: Loaded,
    pub points: Points,
    pub target: Target,
    pub identity: Identity,
    pub inputs: Inputs,
    pub seed: u64,
}

impl Sweep {
    /// Refuses what cannot be swept before anything is played.
    pub fn read(play: &PlayArgs, over: &OverArgs, quiet: bool) -> Result<Sweep, Failure> {
        let sweep = Sweep::open(play, over, quiet)?;
        sweep.check(play)?;
        Ok(sweep)
    }

    /// Without a look at its points.
    pub fn open(play: &PlayArgs, over: &OverArgs, quiet: bool) -> Result<Sweep, Failure> {
        let given = Given::read(play)?;
        let baseline = given.load(&[])?;
        let skipped = baseline.skipped();
        if !quiet && !skipped.is_empty() {
            output::notice(&format!("not simulated: {}", skipped.join(", ")));
        }
        let seed = play.seed.unwrap_or(baseline.seed());
        let of_file = baseline.experiment();
        let spec = axes(&of_file.sweep, over);
        let points = Points::of(&spec, seed)?;
        let asked = over.seeds.or(of_file.replications);
        let otherwise = if over.until.is_some() {
            UNTIL_MAX
        } else {
            REPLICATIONS
        };
        let replications = asked.unwrap_or(otherwise);
        let all = points.count() as u64 * replications;
        if over.until.is_none() && all > ROWS_MAX {
            return Err(Failure::Invalid(format!(
                "{} points x {replications} replications = {all}; a sweep has at most {ROWS_MAX} replications",
                points.count()
            )));
        }
        let inputs = command(&given, &baseline, over, (seed, replications));
        let until = over.until.as_ref();
        let identity = Identity::of(
            baseline.name(),
            (seed, replications, until.map(|u| u.text.as_str())),
            &spec,
            (&inputs.files, &inputs.command),
        );
        let target = target(points.count(), replications, until);
        Ok(Sweep {
            given,
            baseline,
            points,
            target,
            identity,
            inputs,
            seed,
        })
    }

    /// What is played at a point.
    pub fn load(&self, point: usize) -> Result<Subject, Failure> {
        let subject = self.loaded(point).and_then(|loaded| loaded.subject());
        subject.map_err(|why| self.named(point, why))
    }

    /// The same, read.
    pub fn loaded(&self, point: usize) -> Result<Loaded, Failure> {
        self.with(&self.points.sets(point))
    }

    /// The options that change results, but for axes.
    pub fn tail(&self) -> String {
        self.given.tail((self.seed, self.target.replications))
    }

    /// The failure with the point's name.
    pub fn named(&self, point: usize, why: Failure) -> Failure {
        why.within(&format!("at the point {}", self.points.name(point)))
    }

    fn with(&self, sets: &Sets) -> Result<Loaded, Failure> {
        let jobsets: &[SubmittedJobSet] = match &self.baseline {
            Loaded::Pods(loaded) => &loaded.scenario.jobsets,
            Loaded::Fleet(_) => &[],
        };
        let changes = strategy::with_companions(sets, jobsets)?;
        let sets: Sets = changes.into_iter().map(|c| (c.path, c.value)).collect();
        self.given.load(&sets)
    }

    /// Each value of each axis can be read, and the first point can be played: most mistakes are in one value.
    fn check(&self, play: &PlayArgs) -> Result<(), Failure> {
        for axis in self.points.axes() {
            if let Some((path, _)) = play.sets.iter().find(|(path, _)| *path == axis.path) {
                let text = format!("--set {path} and an axis of {path} contradict each other");
                return Err(Failure::Invalid(text));
            }
        }
        let mut seen: Vec<Vec<bool>> = vec![Vec::new(); self.points.axes().len()];
        for point in 0..self.points.count() {
            let indexes = self.points.indexes(point);
            let mut new = false;
            for (axis, at) in indexes.into_iter().enumerate() {
                let known = &mut seen[axis];
                known.resize(known.len().max(at + 1), false);
                new |= !std::mem::replace(&mut known[at], true);
            }
            if new {
                let subject = self.load(point)?;
                let ready = subject.player().map(drop);
                ready.map_err(|why| self.named(point, Failure::CannotBePlaced(why.to_string())))?;
            }
        }
        Ok(())
    }
}

/// How many replications each point needs.
pub fn target(points: usize, replications: u64, until: Option<&Until>) -> Target {
    Target {
        points,
        replications,
        until: until.map(|until| sweep::Until {
            metric: until.metric.clone(),
            precision: until.precision,
        }),
    }
}

/// Those of the file, with those of the command line instead of theirs or after them.
fn axes(of_file: &SweepSpec, over: &OverArgs) -> SweepSpec {
    let mut axes = of_file.axes.clone();
    let mut replaced: Vec<&str> = Vec::new();
    for arg in over.grids.iter().chain(&over.ranges) {
        let path = arg.axis.path.as_str();
        // Twice on the command line is a contradiction, and stays one.
        let known = axes.iter().position(|a| a.path == path);
        match known.filter(|at| *at < of_file.axes.len() && !replaced.contains(&path)) {
            Some(at) => axes[at] = arg.axis.clone(),
            None => axes.push(arg.axis.clone()),
        }
        replaced.push(path);
    }
    let is_range = |axis: &Axis| matches!(axis.over, Over::Range { .. });
    let of_file = of_file.hypercube.filter(|_| axes.iter().any(is_range));
    SweepSpec {
        axes,
        hypercube: over.lhs.or(of_file),
    }
}

fn command(given: &Given, baseline: &Loaded, over: &OverArgs, asked: (u64, u64)) -> Inputs {
    let inputs = given.inputs(baseline, asked, &options(over));
    inputs.of_command("sweep")
}

/// What is varied, as it would be typed.
pub fn options(over: &OverArgs) -> String {
    let mut more = String::new();
    let mut option = |name: &str, value: &str| {
        more.push_str(&format!(" --{name} {}", inputs::quoted(value)));
    };
    over.grids.iter().for_each(|arg| option("grid", &arg.text));
    over.ranges
        .iter()
        .for_each(|arg| option("range", &arg.text));
    if let Some(n) = over.lhs {
        option("lhs", &n.to_string());
    }
    if let Some(until) = &over.until {
        option("until", &until.text);
    }
    more
}

/// A failure of reading that is not of the sweep's own words.
impl Failure {
    fn within(self, place: &str) -> Failure {
        let text = |m: String| format!("error: {place}:\n{m}");
        match self {
            Failure::Invalid(m) => Failure::Invalid(text(m)),
            Failure::CannotBePlaced(m) => Failure::CannotBePlaced(text(m)),
            other => other,
        }
    }
}

/// A metric that nothing measures is a typing error; what there is is known after the first replication.
pub fn known(what: &str, metric: &str, names: &[String]) -> Result<(), Failure> {
    if names.is_empty() || names.iter().any(|name| name == metric) {
        return Ok(());
    }
    let mut all: Vec<&str> = names.iter().map(String::as_str).collect();
    all.sort_unstable();
    let mut text = format!(
        "{what}: there is no metric {metric:?}; there are {}",
        all.join(", ")
    );
    if let Some(near) = sim_inputs::nearest(metric, all.iter().copied()) {
        text.push_str(&format!("\n  did you mean {near}?"));
    }
    Err(Failure::Invalid(text))
}
