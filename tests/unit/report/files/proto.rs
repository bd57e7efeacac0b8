//! Tests of `sim_report::files::proto`.

use sim_report::files::proto::*;
#[test]
fn numbers_and_texts_are_on_the_wire_as_the_encoding_guide_shows() {
    let mut m = ProtoMessage::default();
    m.number(1, 150).text(2, "testing");
    let expected = [0x08, 0x96, 0x01, 0x12, 0x07, b't', b'e', b's', b't', b'i', b'n', b'g'];
    assert_eq!(m.into_bytes(), expected);
    let mut m = ProtoMessage::default();
    m.fixed64(47, 1);
    assert_eq!(m.into_bytes(), [0xf9, 0x02, 1, 0, 0, 0, 0, 0, 0, 0]);
}
