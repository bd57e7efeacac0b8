//! `run`: one run of a scenario, told as text or JSON, and its run directory.

pub(crate) mod check_collapsed;
pub(crate) mod effective;
pub(crate) mod fleet;
pub(crate) mod seeds;

use super::args::{RunArgs, TableFormat, Trace};
use super::inputs::fail_if;
use super::inputs::load;
use super::inputs::load::Loaded;
use super::inputs::whole::defaults;
use super::{Failure, interrupt, output};
use sim_analysis::experiment;
use sim_analysis::experiment::fail_if::Group;
use sim_analysis::experiment::{Limited, Limits, NotVerified, Played, Replication};
use sim_base::condition::Condition;
use sim_base::plain::for_markdown;
use sim_engine::Simulation;
use sim_engine::faults;

use sim_analysis::metrics::assumed;
use sim_analysis::metrics::restarts::restart;
use sim_analysis::metrics::summary::Summary;
use sim_analysis::metrics::{Folds, RunView};
use sim_api::spec::Level;
use sim_engine::record::EndReason;
use sim_report::assumptions::provenance;
use sim_report::console::text;
use sim_report::decisions::DecisionLog;
use sim_report::draw::chart;
use sim_report::figures::waterfall_figure;
use sim_report::files::csv;
use sim_report::files::rundir::RunDir;

pub fn cli(args: &RunArgs) -> Result<(), Failure> {
    let source = args
        .play
        .scenario
        .as_deref()
        .map(load::source)
        .transpose()?;
    if let Some(source) = source
        .as_ref()
        .filter(|source| sim_inputs::is_fleet(source))
    {
        return fleet::cli(args, source);
    }
    if args.show_effective {
        return effective::cli(args, source.as_ref());
    }
    if args.trace == Trace::Decisions && is_table(args.format) {
        let text = "--trace decisions is told as text or json";
        return Err(Failure::Invalid(text.to_owned()));
    }
    let conditions = fail_if::read(&args.fail_if)?;
    fail_if::absolute(&conditions)?;
    let loaded = load::run(args, source.as_ref())?;
    if !args.quiet {
        notices(&loaded, args);
    }
    if args.check_collapsed {
        return check_collapsed::cli(args, &loaded);
    }
    let level = args.play.level().unwrap_or(loaded.level);
    // Collapsed there is no run whose pods could be told: the first replication is.
    if args.seeds.is_some() || level == Level::Collapsed {
        if args.paranoid && args.seeds.is_none() {
            let text = "--paranoid plays every pod twice; add --level pods";
            return Err(Failure::Invalid(text.to_owned()));
        }
        if args.trace == Trace::Decisions {
            let text =
                "--trace decisions tells one run; leave --seeds away, or choose one with --seed";
            return Err(Failure::Invalid(text.to_owned()));
        }
        return seeds::cli(args, &loaded, &conditions);
    }
    let limits = interrupt::limits();
    // Before the run: a directory that cannot be written should not cost one.
    let dir = args.out.as_deref().map(RunDir::create).transpose()?;
    let mut sim = simulation(&loaded)?;
    let done = play((&mut sim, &limits), &loaded, dir.as_ref(), args.trace)?;
    let view = done.view(&loaded);
    if args.paranoid {
        let mut again = simulation(&loaded)?;
        experiment::verify(&mut again, &view, &limits).map_err(|why| match why {
            NotVerified::Stopped => interrupt::failure("nothing is kept"),
            NotVerified::Differs(text) => Failure::Internal(text),
        })?;
    }
    if let (Some(dir), Some((log, ndjson))) = (&dir, &done.decisions) {
        dir.write("decisions.log", log.as_bytes())?;
        dir.write("decisions.ndjson", ndjson)?;
    }
    let target = dir.map(|dir| keep(dir, &view, &loaded)).transpose()?;
    tell(args, &view, &done, target.as_deref())?;
    // Only the run could show that nothing that ends makes room.
    match view.never_placed() {
        Some(why) => Err(Failure::CannotBePlaced(why)),
        None if conditions.is_empty() => Ok(()),
        None => gates(&conditions, &view),
    }
}

fn gates(conditions: &[Condition], view: &RunView<'_>) -> Result<(), Failure> {
    let jobsets: Vec<String> = view.names.jobsets.iter().map(|j| j.name.clone()).collect();
    let group = Group::of("", &jobsets, &[Replication::of(view, 0)]);
    fail_if::check(conditions, &[group])
}

fn tell(
    args: &RunArgs,
    view: &RunView<'_>,
    done: &Done,
    target: Option<&str>,
) -> Result<(), Failure> {
    let style = output::style(&args.look);
    match (&done.decisions, args.format) {
        (Some((_, ndjson)), TableFormat::Json) => output::bytes(ndjson),
        (Some((log, _)), _) => output::styled(&text::decisions(view, log, target, &style), &style),
        (None, TableFormat::Json) => output::json(&Summary::of(view)),
        (None, TableFormat::Csv) => output::bytes(&csv::restarts(view)?),
        (None, TableFormat::Md) => {
            let table = match view.restarts().is_empty() {
                true => "There was none.\n".to_owned(),
                false => csv::markdown(&csv::restarts(view)?)?,
            };
            let (name, seed) = (for_markdown(&view.scenario.name), view.seed);
            output::result(&format!("Restarts of {name}, seed {seed}\n\n{table}"))
        }
        (None, TableFormat::Text) => output::styled(&text::run(view, target, &style), &style),
    }
}

fn is_table(format: TableFormat) -> bool {
    matches!(format, TableFormat::Csv | TableFormat::Md)
}

fn notices(loaded: &Loaded, args: &RunArgs) {
    // The text of a run says it itself.
    if args.format != TableFormat::Text || args.seeds.is_some() {
        let assumed = assumed::containers(&loaded.scenario);
        if let Some(hint) = &assumed.hint {
            let told = assumed.sentences().join("; ");
            output::note(&format!("note: {told}; {hint}"));
        }
    }
    if !loaded.skipped.is_empty() {
        output::note(&format!("not simulated: {}", loaded.skipped.join(", ")));
    }
}

/// Builds the simulation of the first replication; what it refuses are inputs.
pub fn simulation(loaded: &Loaded) -> Result<Simulation, Failure> {
    let scenario = faults::drawn(&loaded.scenario, loaded.seed, 0);
    // The reader has checked the inputs; what is left is that no cluster could take the pods.
    Simulation::new(&scenario).map_err(|errors| Failure::CannotBePlaced(errors.to_string()))
}

/// A finished run with what was folded from its records.
pub struct Done {
    played: Played,
    /// The decision log as text and as NDJSON, if it was asked for.
    pub decisions: Option<(String, Vec<u8>)>,
}

impl Done {
    pub fn view<'a>(&'a self, loaded: &'a Loaded) -> RunView<'a> {
        self.played.view(loaded.seed, &loaded.not_modelled)
    }
}

/// One run; with a directory its events are written while it goes. A run that a limit stops is a failure.
pub fn play(
    (sim, limits): (&mut Simulation, &Limits),
    loaded: &Loaded,
    dir: Option<&RunDir>,
    trace: Trace,
) -> Result<Done, Failure> {
    let events = match dir {
        Some(dir) if trace != Trace::None => Some(dir.events()?),
        _ => None,
    };
    let folds = Folds::new(sim.scenario(), dir.is_some());
    let asked = trace == Trace::Decisions;
    let log = asked.then(|| DecisionLog::new(sim.scenario()));
    let more = (Limited::by(limits), (events, log));
    let (played, (_, (events, log))) = experiment::play(sim, (loaded.seed, 0), folds, more);
    if played.outcome.end_reason == EndReason::Stopped {
        return Err(interrupt::failure("nothing is kept"));
    }
    if let (Some(dir), Some(events)) = (dir, events) {
        dir.finish_events(events, &format!("{:016x}", played.outcome.digest))?;
    }
    Ok(Done {
        decisions: log.map(|log| log.finish(&played.outcome, &played.names)),
        played,
    })
}

/// Writes the rest of the run directory and gives it its name.
pub fn keep(dir: RunDir, view: &RunView<'_>, loaded: &Loaded) -> Result<String, Failure> {
    dir.write_run(view)?;
    if let Some(at) = restart::longest(view.restarts()) {
        let r = &view.restarts()[at];
        let foot = provenance::foot(view, &[r], &defaults());
        let scene = waterfall_figure::waterfall(view, r, at + 1, &foot, chart::SLIDE);
        dir.write_svg("waterfall", &scene)?;
    }
    dir.write_inputs(&loaded.inputs.files, &loaded.inputs.command)?;
    Ok(dir.commit()?.display().to_string())
}
