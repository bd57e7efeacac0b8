//! Names and label values of generated nodes: patterns in which running numbers replace `{pool}`, `{island}` and
//! `{node}`.

use super::NodePool;

/// Running numbers of a node, counted over the whole topology entry.
#[derive(Copy, Clone, Default, Debug, PartialEq, Eq)]
pub struct NodeNumbers {
    pub pool: u64,
    pub island: u64,
    pub node: u64,
}

/// Number of digits of the suffix that makes node names unique.
const SUFFIX_DIGITS: usize = 5;

impl NodeNumbers {
    /// Returns the name of the node. If the pool does not list the node by name, has several nodes, and its name does
    /// not contain `{node}`, the node's number is appended.
    pub fn node_name(self, pool: &NodePool) -> String {
        if let Some(listed) = pool.nodes.get(self.node as usize) {
            return listed.name.clone();
        }
        let mut name = self.expand(&pool.name);
        let nodes = u64::from(pool.islands) * u64::from(pool.nodes_per_island) * u64::from(pool.count);
        if nodes > 1 && !["{node}", "{node:"].iter().any(|variable| pool.name.contains(variable)) {
            name.push('-');
            push_number(&mut name, self.node, SUFFIX_DIGITS);
        }
        name
    }

    /// Returns the value of a label of the node.
    pub fn label(self, pool: &NodePool, key: &str) -> Option<String> {
        let own = pool.nodes.get(self.node as usize).and_then(|node| node.labels.get(key)).cloned();
        own.or_else(|| pool.labels.get(key).map(|value| self.expand(value)))
    }

    /// Replaces the variables of a pattern; `{node:05}` pads with zeros to at most nine digits, and `{island/2}` is the
    /// number divided by 2, rounded down.
    pub fn expand(self, pattern: &str) -> String {
        // Searches bytes: a topology has thousands of nodes.
        let find = |text: &str, byte: u8| text.bytes().position(|b| b == byte);
        let mut out = String::with_capacity(pattern.len());
        let mut rest = pattern;
        while let Some((open, close)) =
            find(rest, b'{').and_then(|open| Some((open, open + find(&rest[open..], b'}')?)))
        {
            out.push_str(&rest[..open]);
            let inside = &rest[open + 1..close];
            let (word, width) = find(inside, b':').map_or((inside, "0"), |at| (&inside[..at], &inside[at + 1..]));
            let (word, divisor) = find(word, b'/').map_or((word, "1"), |at| (&word[..at], &word[at + 1..]));
            let divided = |number: u64| number.checked_div(divisor.parse().ok()?);
            let number = match word {
                "pool" => Some(self.pool),
                "island" => Some(self.island),
                "node" => Some(self.node),
                _ => None,
            };
            match number.and_then(divided) {
                Some(n) => push_number(&mut out, n, width.parse().unwrap_or(0).min(9)),
                None => out.push_str(&rest[open..=close]),
            }
            rest = &rest[close + 1..];
        }
        out.push_str(rest);
        out
    }
}

/// Appends a number with at least `width` digits, at most 20, padded with zeros.
fn push_number(out: &mut String, mut number: u64, width: usize) {
    const DIGITS: usize = 20;
    let mut digits = [b'0'; DIGITS];
    let mut from = DIGITS;
    while number > 0 || from > DIGITS - width.max(1) {
        from -= 1;
        digits[from] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    out.extend(digits[from..].iter().map(|digit| char::from(*digit)));
}

#[cfg(test)]
#[path = "../../../tests/inside/api/spec/node_numbers.rs"]
mod tests;
