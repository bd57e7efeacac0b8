//! Tests the rejection messages of the webhooks, check by check.

use super::verdict::{FollowerPod, WebhookInput, verdict};
use sim_base::DomainId;
use std::collections::BTreeMap;

const KEY: &str = "example.com/rack";

#[test]
fn a_follower_is_rejected_in_the_words_of_the_first_check_that_it_fails() {
    let on = |exists, domain| WebhookInput::Scheduled { node: "n7", exists, domain };
    let (r3, none) = (DomainId(3), DomainId::NONE);
    let transient = "this is an expected, transient error";
    let not_set = "vpod follower pod node selector not set";
    let other = "vpod follower pod node selector for topology domain not found. missing selector: \
                 example.com/rack";
    let unlabelled = "mpod node does not have topology label: example.com/rack";
    let gone = "mpod Node \"n7\" not found";
    let leaders = |n| format!("vpod expected 1 leader pod (js-w-0-0), but got {n}. {transient}");
    let orphan = "vpod leader pod \"js-w-0-0-x\" has no owner reference";
    let stranger = "vpod follower pod owner UID (<uid>) != leader pod owner UID (<uid>)";
    let waits = format!("vpod leader pod not yet scheduled, not creating follower pod. {transient}");
    for (selects, leader, expected) in [
        ("", on(true, r3), Ok(r3)),
        ("", on(true, none), Err(unlabelled)),
        ("", on(false, r3), Err(gone)),
        ("", WebhookInput::Unscheduled, Err(not_set)),
        ("", WebhookInput::Leaders(0), Err(not_set)),
        ("", WebhookInput::Leaders(2), Err(not_set)),
        ("", WebhookInput::Orphan("js-w-0-0-x"), Err(not_set)),
        ("pool", on(true, r3), Ok(r3)),
        ("pool", WebhookInput::Unscheduled, Err(other)),
        ("pool", WebhookInput::Leaders(0), Err(other)),
        ("pool", WebhookInput::OtherJob, Err(other)),
        (KEY, on(true, r3), Ok(r3)),
        (KEY, on(false, none), Err(gone)),
        (KEY, WebhookInput::Unscheduled, Err(&*waits)),
        (KEY, WebhookInput::Leaders(0), Err(&*leaders(0))),
        (KEY, WebhookInput::Leaders(2), Err(&*leaders(2))),
        (KEY, WebhookInput::Orphan("js-w-0-0-x"), Err(orphan)),
        (KEY, WebhookInput::OtherJob, Err(stranger)),
    ] {
        let selector = match selects {
            "" => BTreeMap::new(),
            key => BTreeMap::from([(key.to_owned(), "a".to_owned())]),
        };
        let follower = FollowerPod { job: "js-w-0", key: KEY, selector: &selector };
        let output = verdict(&follower, leader).map_err(|error| {
            let text = error.to_string().replace("admission webhook \"", "");
            text.replace(".kb.io\" denied the request:", "")
        });
        let expected = expected.map_err(str::to_owned);
        assert_eq!(output, expected, "selects {selects:?}, {leader:?}");
    }
}
