//! A build as one body: a tar archive of its folder.

use std::{
    collections::BTreeMap,
    io::{self, Read},
    path::Path,
};

use crate::error::Failure;

/// The largest archive that is taken, and the most that may be in it, in bytes.
pub const AT_MOST: usize = 16 * 1024 * 1024;

/// How many files a build may have.
const FILES_AT_MOST: usize = 2000;

/// What is in an archive, by its path there.
///
/// # Errors
/// [`Failure::BadBuild`] for what is no archive, or has in it what no build has;
/// [`Failure::BuildTooLarge`].
pub fn read(archive: &[u8]) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
    let unreadable = |_: io::Error| Failure::BadBuild("This is no tar archive, or a damaged one".to_owned());
    let mut files = Files::default();
    let mut archive = tar::Archive::new(archive);
    for entry in archive.entries().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        match entry.header().entry_type() {
            tar::EntryType::Directory | tar::EntryType::XGlobalHeader => continue,
            tar::EntryType::Regular | tar::EntryType::Continuous => {}
            _ => return Err(Failure::BadBuild(format!("{path:?} is no plain file"))),
        }
        let Some(room) = files.room_for(entry.size()) else { return Err(Failure::BuildTooLarge) };
        let mut content = Vec::new();
        entry.by_ref().take(room).read_to_end(&mut content).map_err(unreadable)?;
        files.add(path.strip_prefix("./").unwrap_or(&path), content)?;
    }
    Ok(files.files)
}

/// What is in a folder, as its archive would have it.
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
                files.room_for(entry.metadata()?.len()).ok_or(Failure::BuildTooLarge)?;
                files.add(&path, std::fs::read(entry.path())?)?;
            } else {
                anyhow::bail!("{path:?} is no plain file");
            }
        }
    }
    Ok(files.files)
}

/// The archive of `files`; the same for the same files.
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
    /// How much may still come, when so much more does.
    fn room_for(&mut self, more: u64) -> Option<u64> {
        let room = (AT_MOST as u64).checked_sub(self.size)?;
        self.size = self.size.checked_add(more)?;
        (more <= room && self.files.len() < FILES_AT_MOST).then_some(room)
    }

    fn add(&mut self, path: &str, content: Vec<u8>) -> Result<(), Failure> {
        // Compressed forms are made here, so that they can't be of something else.
        if path.rsplit('.').next().is_some_and(|end| end == "br" || end == "gz") {
            return Ok(());
        }
        if !is_plain(path) {
            return Err(Failure::BadBuild(format!("{path:?} is no path inside a build")));
        }
        if self.files.insert(path.to_owned(), content).is_some() {
            return Err(Failure::BadBuild(format!("{path:?} is there twice")));
        }
        Ok(())
    }
}

/// Whether a path stays inside the build, and means the same to every browser and server.
fn is_plain(path: &str) -> bool {
    path.len() <= 200
        && path.split('/').all(|part| {
            !part.is_empty()
                && !part.starts_with('.')
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-@~".contains(&byte))
        })
}
