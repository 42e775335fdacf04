//! The size of a body's parsed form: how many values it has, and how deeply it nests.
//!
//! A body of four megabytes can contain two million values, whose tree takes thirty times the
//! space. So they are counted before anything builds a tree.

/// The space of a value or a key in a tree, including its part of a growing list or table.
pub(crate) const VALUE_BYTES: usize = 128;

/// An upper bound for JSON. For any other text, the numbers mean nothing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Values and keys.
    pub(crate) values: usize,
    /// Nested lists and tables.
    pub(crate) depth: usize,
}

impl Shape {
    /// Looks at each byte once.
    pub(crate) fn of(json: &[u8]) -> Self {
        let (mut values, mut depth, mut deepest) = (1, 0_usize, 0);
        let (mut in_text, mut is_escaped) = (false, false);
        for byte in json {
            if in_text {
                in_text = is_escaped || *byte != b'"';
                is_escaped = !is_escaped && *byte == b'\\';
                continue;
            }
            match byte {
                b'"' => in_text = true,
                b'[' | b'{' => {
                    values += 1;
                    depth += 1;
                    deepest = deepest.max(depth);
                }
                b']' | b'}' => depth = depth.saturating_sub(1),
                b',' | b':' => values += 1,
                _ => {}
            }
        }
        Self { values, depth: deepest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_keys_are_counted_and_texts_are_passed_over() {
        let shape = |json: &str| {
            let Shape { values, depth } = Shape::of(json.as_bytes());
            (values, depth)
        };
        assert_eq!(shape("1"), (1, 0));
        assert_eq!(shape("[0,0,0]"), (4, 1));
        assert_eq!(shape(r#"{"a":[{"b":1}]}"#), (6, 3));
        assert_eq!(shape(r#"["[,{:\"[,\\",1]"#), (3, 1));
        assert_eq!(shape(r#""\\",[]"#), (3, 1));
        assert_eq!(shape("]]]}[["), (3, 2));
    }
}
