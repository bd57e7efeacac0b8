//! Pages of `docs/` that are compiled into the program. `docs/lint.md` and most of `docs/reference/` are omitted,
//! because they are generated from tables that the glossary already contains.

macro_rules! page {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../docs/", $name, ".md")))
    };
}

/// Names of the pages without `docs/` and `.md`, and their texts.
pub const PAGES: &[(&str, &str)] = &[
    page!("bench"),
    page!("compare"),
    page!("decision-log"),
    page!("glossary"),
    ("lint", include_str!("../../lint/docs/head.md")),
    page!("limits"),
    page!("planning"),
    page!("random-faults"),
    page!("recordings"),
    page!("reduced-model"),
    page!("reports"),
    page!("run-directory"),
    page!("stories"),
    page!("sweep"),
    page!("tour"),
    page!("training"),
    page!("why"),
    page!("reference/recording"),
    page!("rules/api"),
    page!("rules/calibration"),
    page!("rules/corner"),
    page!("rules/exclusive"),
    page!("rules/failure"),
    page!("rules/in-place"),
    page!("rules/kubernetes"),
    page!("rules/objects"),
    page!("rules/policies"),
    page!("rules/reconcile"),
    page!("rules/recorded"),
];
