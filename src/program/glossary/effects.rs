//! Example output for restart actions and strategies: the events after one container of a JobSet exits.
//!
//! `effects.txt` contains the output with the commands that produce it; the test `effects` runs each command again.

/// For each term: the command and its output lines.
const EFFECTS: &str = include_str!("effects.txt");

/// Example of the effect of a term.
pub struct ParameterEffect {
    pub word: &'static str,
    pub command: &'static str,
    pub lines: Vec<&'static str>,
}

pub fn all() -> Vec<ParameterEffect> {
    let mut all: Vec<ParameterEffect> = Vec::new();
    for line in EFFECTS.lines() {
        if let Some(word) = line.strip_prefix("== ") {
            let lines = Vec::new();
            all.push(ParameterEffect { word, command: "", lines });
        } else if let Some(effect) = all.last_mut() {
            match line.strip_prefix("$ ") {
                Some(command) => effect.command = command,
                None => effect.lines.push(line),
            }
        }
    }
    all
}

/// Returns the examples for a term, or for the values of a field: `RestartJobSet`, `failurePolicy.rules.action`.
pub fn for_parameter(word: &str) -> Vec<ParameterEffect> {
    let field = |name: &str| word == name || word.ends_with(&format!(".{name}"));
    let values = |e: &ParameterEffect| {
        if e.command.contains("restartStrategy=") {
            field("restartStrategy")
        } else {
            field("rules.action") || field("rules[].action")
        }
    };
    let mut result = all();
    result.retain(|e| e.word == word || values(e));
    result
}
