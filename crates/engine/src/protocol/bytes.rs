//! Fields of a frame's body.

use super::{Malformed, frame::HEADER_BYTES};

/// Writes fields.
#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    /// A frame with a body of about this size. The body is written after its header, so that
    /// nothing is copied.
    pub(crate) fn frame(kind: u8, run: u64, bytes: usize) -> Self {
        let mut writer = Self(Vec::with_capacity(HEADER_BYTES + bytes));
        // The length, which `finish_frame` fills in.
        writer.u32(0).byte(kind).u64(run);
        writer
    }

    /// The finished frame. If a body is longer than a header can express, its length is cut here,
    /// and the other side refuses it. No limit of a run allows such a body.
    pub(crate) fn finish_frame(&mut self) -> Vec<u8> {
        let mut frame = self.finish();
        let length = u32::try_from(frame.len().saturating_sub(HEADER_BYTES)).unwrap_or(u32::MAX).to_le_bytes();
        if let Some(place) = frame.get_mut(..length.len()) {
            place.copy_from_slice(&length);
        }
        frame
    }

    pub(crate) fn byte(&mut self, value: u8) -> &mut Self {
        self.0.push(value);
        self
    }

    pub(crate) fn flag(&mut self, value: bool) -> &mut Self {
        self.byte(u8::from(value))
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn raw(&mut self, value: &[u8]) -> &mut Self {
        self.0.extend_from_slice(value);
        self
    }

    pub(crate) fn text(&mut self, value: &str) -> &mut Self {
        self.u64(value.len() as u64).raw(value.as_bytes())
    }

    /// A flag, and the value if there is one.
    pub(crate) fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) -> &mut Self {
        self.flag(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
        self
    }

    pub(crate) fn option_text(&mut self, value: Option<&str>) -> &mut Self {
        self.option(value, |writer, value| {
            writer.text(value);
        })
    }

    /// Numbers that are mostly consecutive: each is written as the distance from the previous one,
    /// in as few bytes as possible.
    pub(crate) fn numbers(&mut self, values: &[u64]) -> &mut Self {
        self.u64(values.len() as u64);
        let mut last = 0_u64;
        for value in values {
            let distance = value.wrapping_sub(last).cast_signed();
            let mut left = ((distance << 1) ^ (distance >> 63)).cast_unsigned();
            while left >= 0x80 {
                self.byte((left & 0x7f) as u8 | 0x80);
                left >>= 7;
            }
            self.byte((left & 0x7f) as u8);
            last = *value;
        }
        self
    }

    pub(crate) fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }
}

/// Reads fields from any source. It never allocates more than the bytes that are there.
pub(crate) struct Reader<'body>(&'body [u8]);

impl<'body> Reader<'body> {
    pub(crate) fn new(body: &'body [u8]) -> Self {
        Self(body)
    }

    pub(crate) fn raw(&mut self, length: usize) -> Result<&'body [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Malformed::Short)?;
        self.0 = rest;
        Ok(taken)
    }

    /// All remaining bytes.
    pub(crate) fn rest(&mut self) -> &'body [u8] {
        std::mem::take(&mut self.0)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Malformed> {
        let (first, rest) = self.0.split_first().ok_or(Malformed::Short)?;
        self.0 = rest;
        Ok(*first)
    }

    pub(crate) fn flag(&mut self) -> Result<bool, Malformed> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed::Tag),
        }
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        let bytes = self.raw(4)?.try_into().map_err(|_| Malformed::Short)?;
        Ok(u32::from_le_bytes(bytes))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Malformed> {
        let bytes = self.raw(8)?.try_into().map_err(|_| Malformed::Short)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// A count that is at most `max`.
    pub(crate) fn count(&mut self, max: u64) -> Result<u64, Malformed> {
        let count = self.u64()?;
        if count > max { Err(Malformed::Limit) } else { Ok(count) }
    }

    /// A text of at most `max` bytes.
    pub(crate) fn text(&mut self, max: u64) -> Result<&'body str, Malformed> {
        let length = usize::try_from(self.count(max)?).map_err(|_| Malformed::Limit)?;
        std::str::from_utf8(self.raw(length)?).map_err(|_| Malformed::Text)
    }

    /// A text of any length that fits into the frame.
    pub(crate) fn any_text(&mut self) -> Result<String, Malformed> {
        self.text(u64::MAX).map(str::to_owned)
    }

    pub(crate) fn option<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Option<T>, Malformed> {
        if self.flag()? { read(self).map(Some) } else { Ok(None) }
    }

    pub(crate) fn option_text(&mut self, max: u64) -> Result<Option<String>, Malformed> {
        self.option(|reader| reader.text(max).map(str::to_owned))
    }

    /// What [`Writer::numbers`] wrote: at most `max` of them.
    pub(crate) fn numbers(&mut self, max: u64) -> Result<Vec<u64>, Malformed> {
        let count = self.count(max)?;
        // Each number takes at least a byte, so a false count cannot make this large.
        let mut values = Vec::with_capacity(usize::try_from(count).map_or(0, |count| count.min(self.0.len())));
        let mut last = 0_u64;
        for _ in 0..count {
            let (mut coded, mut shift) = (0_u64, 0_u32);
            loop {
                let byte = self.byte()?;
                coded |= u64::from(byte & 0x7f).checked_shl(shift).ok_or(Malformed::Limit)?;
                if byte < 0x80 {
                    break;
                }
                shift += 7;
            }
            let distance = (coded >> 1).cast_signed() ^ -(coded & 1).cast_signed();
            last = last.wrapping_add(distance.cast_unsigned());
            values.push(last);
        }
        Ok(values)
    }

    /// Checks that nothing follows the last field.
    pub(crate) fn end(self) -> Result<(), Malformed> {
        if self.0.is_empty() { Ok(()) } else { Err(Malformed::Long) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back_as_they_were_written() {
        let numbers = [1, 2, 3, 9, 4, u64::MAX, 0, 5];
        let body = Writer::default()
            .u32(7)
            .u64(u64::MAX)
            .text("ö")
            .option_text(None)
            .option_text(Some("x"))
            .numbers(&numbers)
            .flag(true)
            .finish();
        let mut reader = Reader::new(&body);
        assert_eq!((reader.u32(), reader.u64(), reader.text(2)), (Ok(7), Ok(u64::MAX), Ok("ö")));
        assert_eq!((reader.option_text(9), reader.option_text(9)), (Ok(None), Ok(Some("x".to_owned()))));
        assert_eq!((reader.numbers(8), reader.flag()), (Ok(numbers.to_vec()), Ok(true)));
        assert_eq!(reader.end(), Ok(()));
    }

    #[test]
    fn lengths_and_counts_that_lie_are_refused_before_anything_is_made_of_them() {
        let lying = |length: u64| Writer::default().u64(length).raw(b"abc").finish();
        assert_eq!(Reader::new(&lying(4)).text(100), Err(Malformed::Short));
        assert_eq!(Reader::new(&lying(u64::MAX)).text(u64::MAX), Err(Malformed::Short));
        assert_eq!(Reader::new(&lying(3)).text(2), Err(Malformed::Limit));
        assert_eq!(Reader::new(&lying(1 << 60)).numbers(u64::MAX), Err(Malformed::Short));
        assert_eq!(Reader::new(&lying(3)).numbers(2), Err(Malformed::Limit));
        let endless = Writer::default().u64(1).raw(&[0xff; 40]).finish();
        assert_eq!(Reader::new(&endless).numbers(1), Err(Malformed::Limit));
        assert_eq!(Reader::new(&[2]).flag(), Err(Malformed::Tag));
        assert_eq!(Reader::new(&[0]).end(), Err(Malformed::Long));
        let not_text = Writer::default().u64(1).raw(&[0xff]).finish();
        assert_eq!(Reader::new(&not_text).text(9), Err(Malformed::Text));
    }
}
