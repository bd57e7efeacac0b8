//! Finds the known name that is most similar to an unknown name.

/// Returns the known name with the smallest edit distance, if it is similar enough.
pub fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = found.to_lowercase();
    let allowed = (found.chars().count() / 3).clamp(1, 4);
    known
        .into_iter()
        .map(|name| (distance(&lower, &name.to_lowercase()), name))
        .filter(|(d, name)| *d <= allowed || begins_alike(&lower, name))
        .min_by_key(|(d, name)| (*d, *name))
        .map(|(_, name)| name)
}

/// Returns whether one name is a prefix of the other, such as `replica` of `replicas` or `InPlace` of `InPlaceRestart`.
fn begins_alike(lower: &str, name: &str) -> bool {
    let name = name.to_lowercase();
    lower.len() >= 4 && name.len() >= 4 && (name.starts_with(lower) || lower.starts_with(&name))
}

/// Returns the Levenshtein distance, in which a transposition of adjacent characters counts as one edit.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(100).collect(), b.chars().take(100).collect());
    let mut rows = vec![vec![0usize; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}
