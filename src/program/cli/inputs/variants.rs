//! Which variants `compare` plays: read from the scenario, `--variant` and `--strategies`, each text once.

use super::Inputs;
use super::subject::{Given, Loaded, Sets, no_pods};
use crate::cli::Failure;
use crate::cli::args::CompareArgs;
use crate::cli::inputs;
use sim_analysis::experiment::Subject;
use sim_api::spec::{BASELINE, FieldChange, RestartStrategy, SubmittedJobSet};
use sim_base::stats::Precision;
use sim_inputs::strategy;

/// A variant, ready to be played.
pub struct Variant {
    pub name: String,
    pub changes: Vec<FieldChange>,
    pub subject: Subject,
    /// What it is of.
    pub loaded: Loaded,
}

impl Variant {
    /// The failure with the variant's name.
    pub fn named(&self, why: Failure) -> Failure {
        named(&self.name, why)
    }
}

pub fn named(variant: &str, why: Failure) -> Failure {
    let text = |m: String| format!("error: in variant {variant:?}:\n{m}");
    match why {
        Failure::Invalid(m) => Failure::Invalid(text(m)),
        Failure::CannotBePlaced(m) => Failure::CannotBePlaced(text(m)),
        other => other,
    }
}

/// The inputs before any variant.
pub struct Base {
    given: Given,
    pub baseline: Loaded,
}

impl Base {
    pub fn read(args: &CompareArgs) -> Result<Base, Failure> {
        let given = Given::read(&args.play)?;
        let baseline = given.load(&[])?;
        if matches!(baseline, Loaded::Fleet(_)) && !args.strategies.is_empty() {
            return Err(no_pods("--strategies"));
        }
        Ok(Base { given, baseline })
    }

    /// The scenario itself, then its own variants, then those of the command line.
    pub fn variants(&self, args: &CompareArgs) -> Result<Vec<Variant>, Failure> {
        let mut first = BASELINE.to_owned();
        let own = self.baseline.experiment().variants.into_iter();
        let mut all: Vec<(String, Sets)> = own.map(|v| (v.name, v.sets)).collect();
        let more = args.variants.iter();
        all.extend(more.map(|v| (v.name.clone(), v.sets.clone())));
        for strategy in strategies(&args.strategies)? {
            if self.has_strategy(strategy) {
                // The scenario itself is that one.
                first = strategy.as_str().to_owned();
                continue;
            }
            let name = strategy.as_str().to_owned();
            all.push((name.clone(), vec![("strategy".to_owned(), name)]));
        }
        if all.is_empty() {
            return Err(Failure::Invalid(self.nothing().to_owned()));
        }
        all.insert(0, (first, Vec::new()));
        for (i, (name, _)) in all.iter().enumerate() {
            if all[..i].iter().any(|(known, _)| known == name) {
                return Err(Failure::Invalid(format!("there are two variants {name:?}")));
            }
        }
        let one = |(name, sets)| self.variant(name, sets);
        all.into_iter().map(one).collect()
    }

    fn nothing(&self) -> &'static str {
        match self.baseline {
            Loaded::Fleet(_) => {
                "there is nothing to compare: give --variant 'NAME: PATH=VALUE', e.g. --variant 'more: parameters.spares=80'"
            }
            Loaded::Pods(_) => {
                "there is nothing to compare: give --variant 'NAME: PATH=VALUE', --strategies all, or an `experiment` in the scenario"
            }
        }
    }

    fn jobsets(&self) -> &[SubmittedJobSet] {
        match &self.baseline {
            Loaded::Pods(loaded) => &loaded.scenario.jobsets,
            Loaded::Fleet(_) => &[],
        }
    }

    fn has_strategy(&self, strategy: RestartStrategy) -> bool {
        let mut jobsets = self.jobsets().iter();
        jobsets.all(|s| s.jobset.spec.strategy() == strategy)
    }

    fn variant(&self, name: String, sets: Sets) -> Result<Variant, Failure> {
        let changes = strategy::with_companions(&sets, self.jobsets());
        let changes = changes.map_err(|m| named(&name, Failure::Invalid(m)))?;
        let more = changes.iter().map(|c| (c.path.clone(), c.value.clone()));
        let loaded = self.given.load(&more.collect::<Sets>());
        let loaded = loaded.map_err(|why| named(&name, why))?;
        Ok(Variant {
            subject: loaded.subject().map_err(|why| named(&name, why))?,
            name,
            changes,
            loaded,
        })
    }

    /// What a directory keeps, and the command that repeats the comparison from there.
    pub fn inputs(&self, args: &CompareArgs, seed: u64, replications: u64) -> Inputs {
        let mut more = String::new();
        for variant in &args.variants {
            more.push_str(&format!(" --variant {}", inputs::quoted(&variant.text)));
        }
        if !args.strategies.is_empty() {
            more.push_str(&format!(" --strategies {}", args.strategies.join(",")));
        }
        let given = &self.given;
        given
            .inputs(&self.baseline, (seed, replications), &more)
            .of_command("compare")
    }
}

/// `all`, or some of them by name.
fn strategies(words: &[String]) -> Result<Vec<RestartStrategy>, Failure> {
    if words.iter().any(|word| word == "all") {
        return Ok(RestartStrategy::ALL.to_vec());
    }
    let one = |word: &String| {
        let found = RestartStrategy::ALL
            .into_iter()
            .find(|s| s.as_str() == word);
        found.ok_or_else(|| {
            let legal = RestartStrategy::ALL.map(RestartStrategy::as_str).join(", ");
            let text = format!("--strategies: {word:?} is none of them; legal: all, {legal}");
            Failure::Invalid(text)
        })
    };
    words.iter().map(one).collect()
}

/// `NAME: PATH=VALUE, PATH=VALUE`.
#[derive(Clone, Debug, PartialEq)]
pub struct VariantArg {
    /// As it was typed.
    pub text: String,
    pub name: String,
    pub sets: Sets,
}

pub fn parse_variant(text: &str) -> Result<VariantArg, String> {
    let bad =
        || "write NAME: PATH=VALUE, PATH=VALUE, e.g. patient: spec.failurePolicy.maxRestarts=50";
    // Without a name the changes are the name.
    let (name, fields) = match text.split_once(':') {
        Some((name, fields)) if !name.contains('=') => (name.trim(), fields),
        _ => (text.trim(), text),
    };
    if name.is_empty() || name == BASELINE {
        return Err(format!("{name:?} is no name for a variant; {}", bad()));
    }
    let mut sets = Vec::new();
    for field in fields_of(fields) {
        let (path, value) = field.split_once('=').ok_or_else(bad)?;
        if path.trim().is_empty() {
            return Err(bad().to_owned());
        }
        sets.push((path.trim().to_owned(), value.trim().to_owned()));
    }
    Ok(VariantArg {
        text: text.to_owned(),
        name: name.to_owned(),
        sets,
    })
}

/// Parts between commas, but not within brackets or quotes.
pub(crate) fn fields_of(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0i32, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            (None, ',') if depth <= 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// `METRIC ±0.2%`.
#[derive(Clone, Debug, PartialEq)]
pub struct Until {
    /// As it was typed.
    pub text: String,
    pub metric: String,
    pub precision: Precision,
}

impl Until {
    /// That there is no such metric, and which there are.
    pub fn unknown(&self, mut names: Vec<&str>) -> String {
        names.sort_unstable();
        names.dedup();
        let metric = &self.metric;
        let mut text = format!(
            "--until: there is no metric {metric:?}; there are {}",
            names.join(", ")
        );
        if let Some(near) = sim_inputs::nearest(metric, names.iter().copied()) {
            text.push_str(&format!("\n  did you mean {near}?"));
        }
        text
    }
}

pub fn parse_until(text: &str) -> Result<Until, String> {
    let bad =
        || "write METRIC ±SHARE%, or METRIC ±NUMBER, e.g. 'restartLatency_s.p50 ±1%'".to_owned();
    let parts = text.split_once('±').or_else(|| text.split_once("+-"));
    let (metric, precision) = parts.ok_or_else(bad)?;
    let (metric, precision) = (metric.trim(), precision.trim());
    let (number, is_share) = match precision.strip_suffix('%') {
        Some(number) => (number.trim(), true),
        None => (precision, false),
    };
    let number: f64 = number.parse().map_err(|_| bad())?;
    if metric.is_empty() || !number.is_finite() || number <= 0.0 {
        return Err(bad());
    }
    Ok(Until {
        text: text.to_owned(),
        metric: metric.to_owned(),
        precision: match is_share {
            true => Precision::Relative(number / 100.0),
            false => Precision::Absolute(number),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(text: &str) -> Vec<(String, String)> {
        parse_variant(text).unwrap().sets
    }

    #[test]
    fn a_variant_is_a_name_and_fields() {
        let parsed = parse_variant("two: a.b=1, c=[x, {y: 'z, u'}], d=e=f").unwrap();
        assert_eq!(parsed.name, "two");
        let field = |p: &str, v: &str| (p.to_owned(), v.to_owned());
        let expected = [
            field("a.b", "1"),
            field("c", "[x, {y: 'z, u'}]"),
            field("d", "e=f"),
        ];
        assert_eq!(parsed.sets, expected);
        assert_eq!(parse_variant("a.b=1").unwrap().name, "a.b=1");
        assert_eq!(sets("x: a[\"k,l\"]=2"), [field("a[\"k,l\"]", "2")]);
        for wrong in ["", "x:", "x: y", "baseline: a=1", "x: =1"] {
            assert!(parse_variant(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_precision_is_a_share_or_a_number() {
        let until = |text: &str| parse_until(text).map(|u| (u.metric, u.precision));
        let metric = || "goodput.p50".to_owned();
        let share = Ok((metric(), Precision::Relative(0.002)));
        assert_eq!(until("goodput.p50 ±0.2%"), share);
        assert_eq!(
            until("goodput.p50 +- 3"),
            Ok((metric(), Precision::Absolute(3.0)))
        );
        for wrong in ["goodput", "±1%", "x ±", "x ±0%", "x ±-1", "x ±NaN"] {
            assert!(until(wrong).is_err(), "{wrong:?}");
        }
    }
}
