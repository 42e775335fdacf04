//! Reads small text files.

use std::io::{self, Read as _};

use cap_std::fs::Dir;

/// The first `max` bytes of a file of this folder, as text, or `None` if there is no such file.
///
/// # Errors
/// The system's error; also if the file is not UTF-8.
pub fn read_text(folder: &Dir, name: &str, max: u64) -> io::Result<Option<String>> {
    let file = match folder.open(name) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut text = String::new();
    file.take(max).read_to_string(&mut text)?;
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use cap_std::ambient_authority;

    use super::*;

    #[test]
    fn a_file_that_is_not_there_is_none_and_a_long_one_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        assert_eq!(read_text(&folder, "text", 4).unwrap(), None);
        folder.write("text", "12345").unwrap();
        assert_eq!(read_text(&folder, "text", 4).unwrap().as_deref(), Some("1234"));
        folder.write("text", b"\xff").unwrap();
        assert_eq!(read_text(&folder, "text", 4).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
