//! The id of a JSON-RPC answer that is too long to keep.

use rmcp::model::RequestId;

/// How much of a member of the outermost object is kept: its key, and a value no longer than an id.
const MEMBER_BYTES: usize = 128;

/// Reads a JSON object piece by piece, and keeps only what shows which request it answers.
///
/// Without it, the call whose answer is too long could not be identified, and would wait for its
/// time limit. Servers write the id first or last, so neither the head nor the tail of the line is
/// enough.
#[derive(Debug, Default)]
pub(crate) struct IdScan {
    depth: usize,
    in_string: bool,
    escaped: bool,
    member: Vec<u8>,
    id: Option<RequestId>,
    is_request: bool,
}

impl IdScan {
    /// Reads the next piece.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                self.keep(byte);
                continue;
            }
            match byte {
                b'"' => {
                    self.in_string = true;
                    self.keep(byte);
                }
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.end_member();
                    self.depth = self.depth.saturating_sub(1);
                }
                b',' => self.end_member(),
                _ => self.keep(byte),
            }
        }
    }

    /// The id of the request that the line answers, if it is an answer.
    pub(crate) fn answered(self) -> Option<RequestId> {
        self.id.filter(|_| !self.is_request)
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.member.len() < MEMBER_BYTES {
            self.member.push(byte);
        }
    }

    fn end_member(&mut self) {
        if self.depth != 1 {
            return;
        }
        let member = self.member.trim_ascii_start();
        if let Some(value) = member.strip_prefix(br#""id""#).map(<[u8]>::trim_ascii_start) {
            self.id = value.strip_prefix(b":").and_then(|value| serde_json::from_slice(value).ok());
        } else if member.starts_with(br#""method""#) {
            self.is_request = true;
        }
        self.member.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(text: &str) -> Option<RequestId> {
        let mut scan = IdScan::default();
        for piece in text.as_bytes().chunks(3) {
            scan.feed(piece);
        }
        scan.answered()
    }

    #[test]
    fn the_id_is_found_wherever_it_stands() {
        let long = "x,{}[]\\\"".repeat(1000);
        let seven = Some(RequestId::Number(7));
        assert_eq!(answered(&format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"id":8,"t":"{long}"}}}}"#)), seven);
        assert_eq!(answered(&format!(r#"{{"result":{{"t":"{long}","id":8}},"jsonrpc":"2.0", "id" : 7 }}"#)), seven);
        assert_eq!(answered(r#"{"id":"a"}"#), Some(RequestId::String("a".into())));
        assert_eq!(answered(r#"{"id":7,"method":"ping"}"#), None);
        assert_eq!(answered(r#"[{"id":7}]"#), None);
        assert_eq!(answered(&"]}".repeat(100)), None);
    }
}
