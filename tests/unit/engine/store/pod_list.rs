//! Tests of `sim_engine::store::pod_list`.

use proptest::prelude::*;
use sim_base::PodId;
use sim_engine::store::pod_list::*;
proptest! {
    #[test]
    fn a_list_keeps_its_pods_by_index_and_age(
        steps in prop::collection::vec((0u32..8, prop::bool::weighted(0.6)), 1..200)
    ) {
        let (mut list, mut index_of, mut at) = (PodList::default(), Vec::new(), Vec::new());
        let mut model: Vec<(u32, PodId)> = Vec::new();
        for (index, add) in steps {
            if add || model.is_empty() {
                let pod = PodId(index_of.len() as u32);
                index_of.push(index);
                at.push(0);
                list.insert(pod, &index_of, &mut at);
                model.push((index, pod));
            } else {
                let (_, pod) = model.remove(index as usize % model.len());
                list.remove(pod, &mut at);
            }
            let mut expected = model.clone();
            expected.sort();
            let expected: Vec<PodId> = expected.into_iter().map(|(_, p)| p).collect();
            prop_assert_eq!(list.iter().collect::<Vec<_>>(), expected);
            prop_assert_eq!(list.len(), model.len());
        }
    }
}
