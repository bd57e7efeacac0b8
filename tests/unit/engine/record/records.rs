//! Tests of `sim_engine::record::records`.

use sim_base::*;
use sim_engine::record::TicketSubject;
use sim_engine::record::records::*;
use sim_policy::kinds::*;
#[test]
fn a_record_is_about_the_first_that_it_names() {
    let fault = |pod, node| {
        let index = 0;
        Body::Fault { index, pod, node }.head().subject
    };
    let (pod, node) = (PodId(3), NodeId(4));
    assert_eq!(fault(pod, node), TicketSubject::Pod(pod));
    assert_eq!(fault(PodId::NONE, node), TicketSubject::Node(node));
    assert_eq!(fault(PodId::NONE, NodeId::NONE), TicketSubject::Nothing);
    let event =
        Body::KubeEvent { warning: true, object: ObjectRef::Job(JobId(7)), reason: TextId(1), message: TextId(2) };
    let head = event.head();
    assert_eq!(head.subject, TicketSubject::Job(JobId(7)));
    assert_eq!((head.reason, head.message), (TextId(1), TextId(2)));
}

#[test]
fn the_manual_lists_every_kind_with_its_members() {
    let manual = include_str!("../../../../docs/reference/output.md");
    for (kind, roles) in Body::KINDS {
        let named = format!("`{kind}`");
        let row = manual.lines().find(|l| l.split('|').nth(1).is_some_and(|c| c.contains(&named)));
        let row = row.unwrap_or_else(|| panic!("{kind} is not in docs/reference/output.md"));
        for member in roles.iter().filter_map(|r| r.member()) {
            assert!(row.contains(&format!("`{member}`")), "{kind}: {member}");
        }
    }
}
