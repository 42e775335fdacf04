//! Takes the names of functions out of machine code. They are for debuggers and profilers, which do
//! not look into the jar, and are a twentieth of the image.

/// `sh_type` of a table of symbols, and of strings.
const SYMBOLS: u32 = 2;
const STRINGS: u32 = 3;
/// The size of a section's header.
const HEADER: usize = 64;

/// The image without symbols and their names. wasmtime writes both behind all that it reads when an
/// image is loaded, so nothing else moves but the headers of sections, which come last.
pub(crate) fn without(image: &[u8]) -> Option<Vec<u8>> {
    let names = usize::from(u16_at(image, 0x3e)?);
    let headers = image.get(usize_at(image, 0x28)?..)?;
    let mut headers = headers.get(..usize::from(u16_at(image, 0x3c)?) * HEADER)?.to_vec();
    let mut end = 0;
    for (index, header) in headers.chunks_exact_mut(HEADER).enumerate() {
        match u32_at(header, 4)? {
            SYMBOLS => header.fill(0),
            STRINGS if index != names => header.fill(0),
            _ if index != names => end = end.max(usize_at(header, 0x18)? + usize_at(header, 0x20)?),
            _ => {}
        }
    }
    let header = headers.get_mut(names * HEADER..)?;
    let (offset, length) = (usize_at(header, 0x18)?, usize_at(header, 0x20)?);
    header.get_mut(0x18..0x20)?.copy_from_slice(&u64::try_from(end).ok()?.to_le_bytes());

    let mut trimmed = image.get(..end)?.to_vec();
    trimmed.extend_from_slice(image.get(offset..offset + length)?);
    trimmed.resize(trimmed.len().next_multiple_of(8), 0);
    let place = u64::try_from(trimmed.len()).ok()?;
    trimmed.get_mut(0x28..0x30)?.copy_from_slice(&place.to_le_bytes());
    trimmed.extend_from_slice(&headers);
    Some(trimmed)
}

fn u16_at(bytes: &[u8], place: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(place..place + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], place: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(place..place + 4)?.try_into().ok()?))
}

fn usize_at(bytes: &[u8], place: usize) -> Option<usize> {
    let number = u64::from_le_bytes(bytes.get(place..place + 8)?.try_into().ok()?);
    usize::try_from(number).ok()
}
