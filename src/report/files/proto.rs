//! Encoder for the Protocol Buffers wire format, limited to the field types of a trace.

/// A message under construction.
#[derive(Default)]
pub struct ProtoMessage(Vec<u8>);

impl ProtoMessage {
    fn varint(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    fn key(&mut self, field: u32, wire: u64) {
        self.varint(u64::from(field) << 3 | wire);
    }

    pub fn number(&mut self, field: u32, n: u64) -> &mut ProtoMessage {
        self.key(field, 0);
        self.varint(n);
        self
    }

    pub fn fixed64(&mut self, field: u32, n: u64) -> &mut ProtoMessage {
        self.key(field, 1);
        self.0.extend_from_slice(&n.to_le_bytes());
        self
    }

    pub fn bytes(&mut self, field: u32, bytes: &[u8]) -> &mut ProtoMessage {
        self.key(field, 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    pub fn text(&mut self, field: u32, text: &str) -> &mut ProtoMessage {
        self.bytes(field, text.as_bytes())
    }

    pub fn message(&mut self, field: u32, inner: &ProtoMessage) -> &mut ProtoMessage {
        self.bytes(field, &inner.0)
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}
