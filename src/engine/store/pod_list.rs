//! The pods of one Job in the order of their indexes, with gaps for removals in the middle.
//!
//! Must never read a pod; the caller's columns contain the positions.

use sim_base::PodId;

/// Rows of pods. A removed pod leaves a hole; holes are closed when they make up half of the list.
#[derive(Clone, Default, Debug)]
pub struct PodList {
    rows: Vec<PodId>,
    holes: u32,
}

/// Lists with fewer holes are not compacted.
const MIN_HOLES: u32 = 16;

impl PodList {
    pub fn len(&self) -> usize {
        self.rows.len() - self.holes as usize
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn clear(&mut self) {
        self.rows.clear();
        self.holes = 0;
    }

    /// Iterates over all pods, by index and then by age.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = PodId> + '_ {
        self.rows.iter().copied().filter(|p| p.is_some())
    }

    /// Inserts a pod after those with its index. `index_of` and `at` are the columns of all pods.
    pub fn insert(&mut self, pod: PodId, index_of: &[u32], at: &mut [u32]) {
        let index = index_of[pod.ix()];
        let last = self.rows.iter().rev().find(|p| p.is_some());
        if last.is_none_or(|p| index_of[p.ix()] <= index) {
            at[pod.ix()] = self.rows.len() as u32;
            return self.rows.push(pod);
        }
        self.close_holes(at);
        let place = self.rows.partition_point(|p| index_of[p.ix()] <= index);
        self.rows.insert(place, pod);
        for (i, p) in self.rows.iter().enumerate().skip(place) {
            at[p.ix()] = i as u32;
        }
    }

    pub fn remove(&mut self, pod: PodId, at: &mut [u32]) {
        let place = at[pod.ix()] as usize;
        assert!(self.rows[place] == pod, "a pod is where its Job's list has it");
        if place + 1 == self.rows.len() {
            self.rows.pop();
            return;
        }
        self.rows[place] = PodId::NONE;
        self.holes += 1;
        if self.holes > MIN_HOLES && self.holes as usize * 2 > self.rows.len() {
            self.close_holes(at);
        }
    }

    fn close_holes(&mut self, at: &mut [u32]) {
        if self.holes == 0 {
            return;
        }
        self.rows.retain(|p| p.is_some());
        self.holes = 0;
        for (i, p) in self.rows.iter().enumerate() {
            at[p.ix()] = i as u32;
        }
    }
}
