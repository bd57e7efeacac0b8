//! `sweep plan`: how large a sweep is, into how many shards it belongs, and what starts them on an engine of the users.
//!
//! Nothing is submitted: manifests and scripts are printed.

mod indexed_job;
mod pilot;
mod scripts;

use super::given::{Sweep, options};
use crate::cli::args::{Engine, PlayArgs, SweepPlanArgs};
use crate::cli::inputs::quoted;
use crate::cli::{Failure, output};
use sim_analysis::format::count;
use sim_analysis::sweep::shard::SHARDS_MAX;

/// What is printed needs all of it.
pub struct Plan {
    /// Of Kubernetes objects and jobs.
    pub name: String,
    pub shards: u64,
    pub cpus: u16,
    /// What a shard is, behind the name of the program; relative to where it was asked for.
    pub words: Vec<String>,
    /// Where the result goes.
    pub out: String,
    pub image: String,
    pub claim: String,
    /// What is said of its size.
    pub size: String,
}

pub fn cli(args: &SweepPlanArgs) -> Result<(), Failure> {
    let sweep = Sweep::read(&args.play, &args.over, args.quiet)?;
    let total = sweep.target.total(sim_analysis::sweep::Shard::WHOLE);
    let (shards, size) = match args.shards {
        Some(shards) => (
            shards,
            format!("{total} replications in {}", count(shards, "shard")),
        ),
        None => pilot::measure(&sweep, total, args.cpus)?,
    };
    let pieces = match sweep.target.until {
        Some(_) => sweep.points.count() as u64,
        None => total,
    };
    if shards > pieces {
        let what = if sweep.target.until.is_some() {
            "points"
        } else {
            "replications"
        };
        return Err(Failure::Invalid(format!(
            "{shards} shards, and there are {pieces} {what}"
        )));
    }
    debug_assert!(shards <= SHARDS_MAX);
    let plan = Plan {
        name: args
            .name
            .clone()
            .unwrap_or_else(|| label(&sweep.identity.scenario)),
        shards,
        cpus: args.cpus,
        words: words_of(&args.play, &sweep, args)?,
        out: args.out.clone(),
        image: args
            .image
            .clone()
            .unwrap_or_else(|| format!("jobset-sim:{}", env!("CARGO_PKG_VERSION"))),
        claim: args.claim.clone(),
        size,
    };
    if !args.quiet && args.engine.is_some() {
        output::notice(&plan.size);
    }
    let text = match args.engine {
        None => return output::result(&format!("{}\n", plan.size)),
        Some(Engine::IndexedJob) => indexed_job::manifest(&plan, &sweep.inputs)?,
        Some(Engine::Slurm) => scripts::slurm(&plan),
        Some(Engine::Ray) => scripts::ray(&plan),
        Some(Engine::Parallel) => scripts::parallel(&plan),
    };
    output::result(&text)
}

/// `sweep` with what was typed; seed and replications are said, so that a changed file changes neither.
fn words_of(play: &PlayArgs, sweep: &Sweep, args: &SweepPlanArgs) -> Result<Vec<String>, Failure> {
    let mut line = String::from("sweep");
    if let Some(path) = &play.scenario {
        line.push_str(&format!(" {}", quoted(&path.to_string_lossy())));
    }
    for path in &play.manifests {
        if path == sim_inputs::STDIN {
            let text = "standard input is here alone: give -f a file, for shards to read";
            return Err(Failure::Invalid(text.to_owned()));
        }
        line.push_str(&format!(" -f {}", quoted(path)));
    }
    if let Some(path) = &play.topology {
        line.push_str(&format!(" -t {}", quoted(&path.to_string_lossy())));
    }
    line.push_str(&sweep.tail());
    line.push_str(&options(&args.over));
    Ok(words(&line))
}

/// A line that `quoted` wrote, as its words.
pub fn words(line: &str) -> Vec<String> {
    let (mut all, mut word, mut open, mut any) = (Vec::new(), String::new(), false, false);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => (open, any) = (!open, true),
            '\\' if !open => word.extend(chars.next()),
            ' ' if !open => {
                if any || !word.is_empty() {
                    all.push(std::mem::take(&mut word));
                }
                any = false;
            }
            c => word.push(c),
        }
    }
    if any || !word.is_empty() {
        all.push(word);
    }
    all
}

/// A name as Kubernetes takes it.
fn label(name: &str) -> String {
    let plain = |c: char| match c.to_ascii_lowercase() {
        c if c.is_ascii_lowercase() || c.is_ascii_digit() => c,
        _ => '-',
    };
    let text: String = name.chars().map(plain).take(50).collect();
    match text.trim_matches('-') {
        "" => "sweep".to_owned(),
        text => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_taken_apart_as_a_shell_would() {
        let words_in = ["sweep", "a b.yaml", "", "it's", "x=[1, 2]", "ü"];
        let line: Vec<String> = words_in.iter().map(|w| quoted(w)).collect();
        assert_eq!(words(&line.join(" ")), words_in);
        assert_eq!(label("My sweep/β"), "my-sweep");
        assert_eq!(label("***"), "sweep");
    }
}
