//! Reads taints and tolerations.

use serde_json::Value;
use sim_api::objects::value_access::{int, text};
use sim_api::spec::{TaintEffect, TaintSpec, TolerationSpec};

/// Reads the name of a taint effect.
fn read_effect(word: &str) -> Option<TaintEffect> {
    let all = [TaintEffect::NoSchedule, TaintEffect::PreferNoSchedule, TaintEffect::NoExecute];
    all.into_iter().find(|effect| effect.as_str() == word)
}

pub fn read_taint(taint: &Value) -> Option<TaintSpec> {
    let effect = read_effect(text(taint, "effect"))?;
    Some(TaintSpec { key: text(taint, "key").to_owned(), value: text(taint, "value").to_owned(), effect })
}

pub fn read_toleration(toleration: &Value) -> TolerationSpec {
    let key = text(toleration, "key");
    TolerationSpec {
        key: (!key.is_empty()).then(|| key.to_owned()),
        exists: text(toleration, "operator") == "Exists",
        value: text(toleration, "value").to_owned(),
        effect: read_effect(text(toleration, "effect")),
        toleration_seconds: int(toleration, "tolerationSeconds"),
    }
}
