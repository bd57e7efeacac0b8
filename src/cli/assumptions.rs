//! `assumptions`: every default that a run uses, and which of them its result hangs on.

use super::args::{AssumptionsArgs, TableFormat};
use super::subject::{Given, Loaded, Sets};
use super::{Failure, interrupt, output, replay};
use crate::collapsed::{Choice, choices};
use crate::experiment::{Limits, NoRuns, Replication, Side, derivative, headline};
use crate::manifest::{self, Assumption, Used};
use crate::spec::Level;
use crate::words::assumptions::{self, Effect, Played, Row};

/// Replications of each value, unless it is said.
const REPLICATIONS: u64 = 5;

pub fn cli(args: &AssumptionsArgs) -> Result<(), Failure> {
    let mut play = args.play.clone();
    if play.scenario.is_none() && play.manifests.is_empty() {
        return tell(args, "", &all(), None);
    }
    if let Some(dir) = play.scenario.clone().filter(|path| replay::is_run(path)) {
        let of = replay::arguments(&dir)?.play;
        let (sets, fails) = (play.sets, play.fails);
        play = of;
        play.sets.extend(sets);
        play.fails.extend(fails);
        play.seed = args.play.seed.or(play.seed);
    }
    let given = Given::read(&play)?;
    let loaded = given.load(&[])?;
    let (used, names) = match &loaded {
        Loaded::Pods(pods) => {
            let jobsets = pods.scenario.jobsets.iter();
            let names = jobsets.map(|j| j.jobset.name.clone());
            let mut used = manifest::used(pods);
            if pods.experiment.level == Level::Collapsed {
                used.extend(choices().into_iter().map(chosen).map(Used::listed));
            }
            (used, names.collect())
        }
        Loaded::Fleet(fleet) => (manifest::used_fleet(fleet), Vec::new()),
    };
    let name = loaded.name().to_owned();
    if args.values {
        let rows = used.into_iter().map(|used| Row {
            used,
            effect: Effect::NotPlayed,
        });
        return tell(args, &name, &rows.collect::<Vec<_>>(), None);
    }
    let job = Job {
        args,
        given: &given,
        names,
        seed: play.seed.unwrap_or(loaded.seed()),
        threads: play.threads(),
        limits: &interrupt::limits(),
    };
    let (rows, played) = job.run(used)?;
    tell(args, &name, &assumptions::sorted(rows), Some(&played))
}

/// How the collapsed level measures.
fn chosen(choice: Choice) -> Assumption {
    Assumption {
        id: choice.id.to_owned(),
        value: choice.value,
        source: format!("how the collapsed level measures: {}", choice.why),
        confidence: "derived".to_owned(),
    }
}

/// Without inputs: what there is.
fn all() -> Vec<Row> {
    let rows = manifest::assumptions().into_iter();
    let rows = rows.chain(manifest::fault_presets::assumptions());
    let rows = rows.chain(choices().into_iter().map(chosen));
    let row = |a| Row {
        used: Used::listed(a),
        effect: Effect::NotPlayed,
    };
    rows.map(row).collect()
}

/// What is played.
struct Job<'a> {
    args: &'a AssumptionsArgs,
    given: &'a Given,
    names: Vec<String>,
    seed: u64,
    threads: usize,
    limits: &'a Limits,
}

impl Job<'_> {
    fn run(&self, used: Vec<Used>) -> Result<(Vec<Row>, Played), Failure> {
        let n = self.args.seeds.unwrap_or(REPLICATIONS);
        let base = self.play(&[], 0..n)?;
        let metric = match &self.args.metric {
            Some(metric) => self.known(metric, &base)?,
            None => headline(&base, &self.names).unwrap_or_default(),
        };
        let mut rows = Vec::new();
        let count = used.len();
        for (i, used) in used.into_iter().enumerate() {
            if !self.args.quiet {
                output::progress(&format!("{}/{count} {}", i + 1, used.id));
            }
            let effect = self.effect(&used, &base, &metric)?;
            rows.push(Row { used, effect });
            if self.limits.flag.is_raised() {
                return Err(interrupt::failure("nothing is finished"));
            }
        }
        if !self.args.quiet {
            output::progress("");
        }
        let value = |r| crate::experiment::derivative::value(r, &self.names, &metric);
        let values: Vec<f64> = base.iter().filter_map(value).collect();
        let played = Played {
            base: crate::stats::Mean::of(&values).map(|mean| mean.mean),
            metric,
            replications: n,
            step: self.args.step,
        };
        Ok((rows, played))
    }

    /// Of the first replication alone, if that one is the same on both sides.
    fn effect(&self, used: &Used, base: &[Replication], metric: &str) -> Result<Effect, Failure> {
        let step = f64::from(self.args.step) / 100.0;
        let (Some(smaller), Some(larger)) = (used.times(1.0 - step), used.times(1.0 + step)) else {
            let why = "no field changes it, or it cannot be smaller";
            return Ok(Effect::NotTried(why.to_owned()));
        };
        let (mut down, mut up) = (Vec::new(), Vec::new());
        for (set, played) in [(&smaller.set, &mut down), (&larger.set, &mut up)] {
            match self.play(std::slice::from_ref(set), 0..1) {
                Ok(first) => played.extend(first),
                Err(Failure::Invalid(why) | Failure::CannotBePlaced(why)) => {
                    let why = why.lines().next().unwrap_or_default().to_owned();
                    return Ok(Effect::NotTried(why));
                }
                Err(other) => return Err(other),
            }
        }
        let same = |r: &[Replication]| {
            let digest = |r: &[Replication]| r.first().map(|r| r.digest);
            digest(r) == digest(base)
        };
        if same(&down) && same(&up) {
            return Ok(Effect::None);
        }
        let n = base.len() as u64;
        for (set, played) in [(&smaller.set, &mut down), (&larger.set, &mut up)] {
            played.extend(self.play(std::slice::from_ref(set), 1..n)?);
        }
        let side = |share, replications| Side {
            share,
            replications,
        };
        let (down, up) = (side(smaller.share, &down[..]), side(larger.share, &up[..]));
        let found = derivative(base, (&down, &up), (&self.names, metric));
        Ok(match found {
            Some(d) if d.per_percent == 0.0 && d.ci95 == [0.0; 2] => Effect::None,
            Some(d) => Effect::Of(d),
            None => Effect::NotTried(format!("{metric} was never measured")),
        })
    }

    fn play(
        &self,
        sets: &[(String, String)],
        which: std::ops::Range<u64>,
    ) -> Result<Vec<Replication>, Failure> {
        let sets: Sets = sets.to_vec();
        let subject = self.given.load(&sets)?.subject()?;
        let played = subject.replicate((self.seed, which), (self.threads, self.limits), &|_| {});
        played.map_err(|why| match why {
            NoRuns::Threads(_) => Failure::Invalid(why.to_string()),
            NoRuns::Scenario(_) => Failure::CannotBePlaced(why.to_string()),
        })
    }

    fn known(&self, metric: &str, base: &[Replication]) -> Result<String, Failure> {
        let all = base
            .iter()
            .flat_map(|r| crate::experiment::metrics(r, &self.names));
        let names: Vec<String> = all.map(|(name, _)| name).collect();
        if names.iter().any(|name| name == metric) {
            return Ok(metric.to_owned());
        }
        let near = manifest::nearest(metric, names.iter().map(String::as_str));
        let hint = near.map_or(String::new(), |near| format!("; did you mean {near:?}?"));
        Err(Failure::Invalid(format!(
            "there is no metric {metric:?}{hint}"
        )))
    }
}

fn tell(
    args: &AssumptionsArgs,
    name: &str,
    rows: &[Row],
    played: Option<&Played>,
) -> Result<(), Failure> {
    match args.format {
        TableFormat::Json => output::json(&assumptions::as_json(name, rows, played)),
        TableFormat::Csv => output::bytes(&assumptions::csv(rows)?),
        TableFormat::Md => output::result(&assumptions::markdown(rows, played)),
        TableFormat::Text => {
            let style = output::style(&args.look);
            output::styled(&assumptions::text(name, rows, played, &style), &style)
        }
    }
}
