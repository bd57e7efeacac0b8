//! The request of a sweep: inputs, axes and replications, and the inputs of each point.

use crate::cli::args::{InputArgs, TimeLimit};
use crate::cli::failure::{CommandFailure, bail};
use crate::cli::inputs::{ExperimentInput, InputCopies, LoadedInput};
use crate::{cli::inputs::options, cli::sweep::args::AxisArgs};
use sim_analysis::experiment::ExperimentSubject;
use sim_analysis::sweep;
use sim_analysis::sweep::{SweepIdentity, SweepPoints, WorkTarget};
use sim_api::spec::{SweepAxis, SweepSpec, SweepTarget};

/// Default number of replications per point.
const REPLICATIONS: u64 = 20;
/// Maximum number of replications per point with `--until`.
const UNTIL_MAX: u64 = 100_000;
/// Maximum number of replications of a sweep, because all are held in memory.
const ROWS_MAX: u64 = 10_000_000;

pub struct SweepRequest {
    given: ExperimentInput,
    baseline: LoadedInput,
    pub points: SweepPoints,
    pub target: WorkTarget,
    pub identity: SweepIdentity,
    pub inputs: InputCopies,
    pub seed: u64,
}

impl SweepRequest {
    /// Reads a sweep. Returns an error for invalid points before anything is simulated.
    pub fn read(input: &InputArgs, over: &AxisArgs, quiet: bool) -> Result<SweepRequest, CommandFailure> {
        let sweep = SweepRequest::open(input, over, quiet)?;
        sweep.check(input)?;
        Ok(sweep)
    }

    /// Returns the currency of the costs; empty for a Fleet.
    pub fn currency(&self) -> &str {
        self.baseline.currency()
    }

    /// Reads a sweep without checking its points.
    pub fn open(input: &InputArgs, over: &AxisArgs, quiet: bool) -> Result<SweepRequest, CommandFailure> {
        let mut given = ExperimentInput::read(input)?;
        let mut baseline = given.load_for_planning(quiet)?;
        baseline.print_notices(quiet);
        let seed = input.seed.unwrap_or(baseline.seed());
        let of_file = baseline.experiment().clone();
        let mut spec = axes(&of_file.sweep, over);
        for axis in &mut spec.axes {
            axis.is_uncertain |= sim_inputs::is_uncertain(given.text(), &axis.path);
        }
        let points = SweepPoints::expand(&spec, seed).map_err(|e| e.to_string())?;
        let mut others = first_uses(&points)
            .into_iter()
            .map(|point| (points.name(point), baseline.with_companions(&points.sets(point))));
        if given.leaves_nodes(&mut others, quiet) {
            baseline = given.load(&[])?;
        }
        let request = over.seeds.or(of_file.replications);
        let otherwise = if over.until.is_some() { UNTIL_MAX } else { REPLICATIONS };
        let replications = request.unwrap_or(otherwise);
        let all = points.count() as u64 * replications;
        if over.until.is_none() && all > ROWS_MAX {
            bail!("{} points x {replications} replications = {all}, more than the limit of {ROWS_MAX}", points.count());
        }
        let copies = given.copies(&baseline, (seed, Some(replications)), &repeated(over));
        let inputs = copies.of_command("sweep");
        let until = over.until.as_ref();
        let identity = SweepIdentity::new(
            (baseline.name(), baseline.level_name()),
            (seed, replications, until.map(|u| u.text.as_str())),
            &spec,
            (&inputs.files, &inputs.command),
        );
        let target = target(points.count(), replications, until);
        Ok(SweepRequest { given, baseline, points, target, identity, inputs, seed })
    }

    /// Loads the subject to simulate at a point.
    pub fn load(&self, point: usize) -> Result<ExperimentSubject, CommandFailure> {
        let subject = self.loaded(point).and_then(|loaded| loaded.subject());
        subject.map_err(|why| self.named(point, why))
    }

    /// Loads the inputs of a point.
    pub fn loaded(&self, point: usize) -> Result<LoadedInput, CommandFailure> {
        self.given.load(&self.baseline.with_companions(&self.points.sets(point))?)
    }

    /// Returns the command-line options that affect results, except axes.
    pub fn tail(&self) -> String {
        self.given.options((self.seed, Some(self.target.replications)))
    }

    /// Adds the name of the point to an error.
    pub fn named(&self, point: usize, why: CommandFailure) -> CommandFailure {
        why.with_context(&format!("at point {}", self.points.name(point)))
    }

    /// Checks that each value of each axis can be loaded and placed, in the first point that uses it.
    fn check(&self, input: &InputArgs) -> Result<(), CommandFailure> {
        for axis in self.points.axes() {
            if let Some((path, _)) = input.sets.iter().find(|(path, _)| *path == axis.path) {
                bail!("{path} is set with --set and is also an axis");
            }
        }
        for point in first_uses(&self.points) {
            let subject = self.load(point)?;
            let ready = subject.player().map(drop);
            ready.map_err(|why| self.named(point, why.into()))?;
        }
        Ok(())
    }
}

/// Returns the points that are the first to use some value of an axis.
fn first_uses(points: &SweepPoints) -> Vec<usize> {
    let mut seen: Vec<Vec<bool>> = vec![Vec::new(); points.axes().len()];
    let mut is_first = |point: &usize| {
        let mut new = false;
        for (axis, at) in points.indexes(*point).into_iter().enumerate() {
            let known = &mut seen[axis];
            known.resize(known.len().max(at + 1), false);
            new |= !std::mem::replace(&mut known[at], true);
        }
        new
    };
    (0..points.count()).filter(|point| is_first(point)).collect()
}

/// Returns the number of replications that each point needs.
pub fn target(points: usize, replications: u64, until: Option<&TimeLimit>) -> WorkTarget {
    WorkTarget {
        points,
        replications,
        until: until.map(|until| sweep::WorkLimit { metric: until.metric.clone(), precision: until.precision }),
    }
}

/// Returns the axes of the file; axes of the command line replace those of the same path or are appended.
fn axes(of_file: &SweepSpec, over: &AxisArgs) -> SweepSpec {
    let mut axes = of_file.axes.clone();
    let mut replaced: Vec<&str> = Vec::new();
    for arg in over.grids.iter().chain(&over.ranges) {
        let path = arg.axis.path.as_str();
        // A path that is given twice on the command line remains there twice, which is an error later.
        let known = axes.iter().position(|a| a.path == path);
        match known.filter(|at| *at < of_file.axes.len() && !replaced.contains(&path)) {
            Some(at) => axes[at] = arg.axis.clone(),
            None => axes.push(arg.axis.clone()),
        }
        replaced.push(path);
    }
    let is_range = |axis: &SweepAxis| matches!(axis.target, SweepTarget::Range { .. });
    let of_file = of_file.hypercube.filter(|_| axes.iter().any(is_range));
    SweepSpec { axes, hypercube: over.lhs.or(of_file) }
}

/// Formats the options for axes and precision for a command line.
pub fn repeated(over: &AxisArgs) -> String {
    [
        options("grid", over.grids.iter().map(|arg| &arg.text)),
        options("range", over.ranges.iter().map(|arg| &arg.text)),
        options("lhs", over.lhs),
        options("until", over.until.iter().map(|until| &until.text)),
    ]
    .concat()
}
