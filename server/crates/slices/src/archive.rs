//! A build as a tar archive of its folder.

use std::{
    collections::BTreeMap,
    io::{self, Read},
    path::Path,
};

use crate::refusal::SliceRefusal;
use base::error::Failure;

/// Maximum size of an archive, and of all files in it, in bytes.
pub const MAX_SIZE: usize = 16 * 1024 * 1024;

/// The number of archives that may be received and checked at once. The files of each are in memory meanwhile.
pub const MAX_AT_ONCE: usize = 4;

/// Maximum number of files in a build.
const MAX_FILES: usize = 2000;

/// Reads the files of an archive, by path.
///
/// # Errors
/// [`SliceRefusal::BadBuild`] when it is not an archive, or contains something that a build may not
/// contain; [`SliceRefusal::BuildTooLarge`].
pub fn read(archive: impl Read) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
    let unreadable =
        |_: io::Error| SliceRefusal::BadBuild("This is not a tar archive, or it is damaged".to_owned());
    let mut files = Files::default();
    let mut archive = tar::Archive::new(archive);
    for entry in archive.entries().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        match entry.header().entry_type() {
            tar::EntryType::Directory | tar::EntryType::XGlobalHeader => continue,
            tar::EntryType::Regular | tar::EntryType::Continuous => {}
            _ => return Err(SliceRefusal::BadBuild(format!("{path:?} is not a regular file")).into()),
        }
        let Some(room) = files.room_for(entry.size()) else { return Err(SliceRefusal::BuildTooLarge.into()) };
        let mut content = Vec::new();
        entry.by_ref().take(room).read_to_end(&mut content).map_err(unreadable)?;
        files.add(path.strip_prefix("./").unwrap_or(&path), content)?;
    }
    Ok(files.files)
}

/// Reads the files of a folder, with the same checks as [`read`].
///
/// # Errors
/// As [`read`], and when the folder can't be read.
pub fn read_folder(folder: &Path) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
    let mut files = Files::default();
    let mut folders = vec![(folder.to_owned(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push((entry.path(), format!("{path}/")));
            } else if kind.is_file() {
                files.room_for(entry.metadata()?.len()).ok_or(SliceRefusal::BuildTooLarge)?;
                files.add(&path, std::fs::read(entry.path())?)?;
            } else {
                anyhow::bail!("{path:?} is not a regular file");
            }
        }
    }
    Ok(files.files)
}

/// Writes an archive of `files`; equal files give equal archives.
///
/// # Errors
/// When a path is too long for an archive.
pub fn write(files: &BTreeMap<String, Vec<u8>>) -> io::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(Vec::new());
    for (path, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        archive.append_data(&mut header, path, content.as_slice())?;
    }
    archive.into_inner()
}

#[derive(Default)]
struct Files {
    files: BTreeMap<String, Vec<u8>>,
    size: u64,
}

impl Files {
    /// Counts `more` bytes, and returns the space that was left; `None` when the limits are exceeded.
    fn room_for(&mut self, more: u64) -> Option<u64> {
        let room = (MAX_SIZE as u64).checked_sub(self.size)?;
        self.size = self.size.checked_add(more)?;
        (more <= room && self.files.len() < MAX_FILES).then_some(room)
    }

    fn add(&mut self, path: &str, content: Vec<u8>) -> Result<(), Failure> {
        // The server compresses files itself, so that the compressed ones always match.
        if path.rsplit('.').next().is_some_and(|end| end == "br" || end == "gz") {
            return Ok(());
        }
        if !is_safe(path) {
            return Err(SliceRefusal::BadBuild(format!("{path:?} is not a valid path in a build")).into());
        }
        if self.files.insert(path.to_owned(), content).is_some() {
            return Err(SliceRefusal::BadBuild(format!("{path:?} is in the archive twice")).into());
        }
        Ok(())
    }
}

/// Returns `true` if a path stays inside the build and means the same to every browser and server.
fn is_safe(path: &str) -> bool {
    path.len() <= 200
        && path.split('/').all(|part| {
            !part.is_empty()
                && !part.starts_with('.')
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-@~".contains(&byte))
        })
}
