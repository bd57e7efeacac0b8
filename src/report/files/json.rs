//! JSON serialization into a byte buffer. The event log contains millions of lines, so it must not allocate per line.

/// Appends `text` with the escapes of a JSON string, without quotes.
pub fn escape(out: &mut Vec<u8>, text: &str) {
    let plain = |b: u8| b >= 0x20 && b != b'"' && b != b'\\';
    if text.bytes().all(plain) {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    for b in text.bytes() {
        match b {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0..0x20 => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                out.extend_from_slice(b"\\u00");
                out.extend([HEX[(b >> 4) as usize], HEX[(b & 15) as usize]]);
            }
            //  Bytes of UTF-8 sequences are not escaped.
            _ => out.push(b),
        }
    }
}

pub fn number(out: &mut Vec<u8>, mut n: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Writer for the members of one JSON object. Every method appends a member.
pub struct JsonMembers<'a>(pub &'a mut Vec<u8>);

impl JsonMembers<'_> {
    fn key(&mut self, key: &str) {
        self.0.extend_from_slice(b",\"");
        self.0.extend_from_slice(key.as_bytes());
        self.0.extend_from_slice(b"\":");
    }

    pub fn u32(&mut self, key: &str, value: u32) -> &mut Self {
        self.u64(key, u64::from(value))
    }

    pub fn u64(&mut self, key: &str, value: u64) -> &mut Self {
        self.key(key);
        number(self.0, value);
        self
    }

    pub fn i32(&mut self, key: &str, value: i32) -> &mut Self {
        self.key(key);
        if value < 0 {
            self.0.push(b'-');
        }
        number(self.0, u64::from(value.unsigned_abs()));
        self
    }

    pub fn bool(&mut self, key: &str, value: bool) -> &mut Self {
        self.key(key);
        self.0.extend_from_slice(if value { b"true" } else { b"false" });
        self
    }

    pub fn str(&mut self, key: &str, value: &str) -> &mut Self {
        self.key(key);
        self.0.push(b'"');
        escape(self.0, value);
        self.0.push(b'"');
        self
    }

    /// Appends a string that is already escaped.
    pub fn escaped(&mut self, key: &str, value: &[u8]) -> &mut Self {
        self.key(key);
        self.0.push(b'"');
        self.0.extend_from_slice(value);
        self.0.push(b'"');
        self
    }
}
