//! What an action or a strategy comes to, in a few lines that the engine has told: one container of a JobSet exits.
//!
//! `effects.txt` has them with their commands; the test `effects` plays each again.

/// Of each word: the command, and the lines.
const EFFECTS: &str = include_str!("effects.txt");

/// A picture of the effect of a word.
pub struct Effect {
    pub word: &'static str,
    pub command: &'static str,
    pub lines: Vec<&'static str>,
}

/// All of them.
pub fn all() -> Vec<Effect> {
    let mut all: Vec<Effect> = Vec::new();
    for line in EFFECTS.lines() {
        if let Some(word) = line.strip_prefix("== ") {
            let lines = Vec::new();
            all.push(Effect {
                word,
                command: "",
                lines,
            });
        } else if let Some(effect) = all.last_mut() {
            match line.strip_prefix("$ ") {
                Some(command) => effect.command = command,
                None => effect.lines.push(line),
            }
        }
    }
    all
}

/// Those of a word, or of the values of a field: `RestartJobSet`, `failurePolicy.rules.action`.
pub fn of(word: &str) -> Vec<Effect> {
    let field = |name: &str| word == name || word.ends_with(&format!(".{name}"));
    let values = |e: &Effect| match e.command.contains("restartStrategy=") {
        true => field("restartStrategy"),
        false => field("rules.action") || field("rules[].action"),
    };
    let mut found = all();
    found.retain(|e| e.word == word || values(e));
    found
}
