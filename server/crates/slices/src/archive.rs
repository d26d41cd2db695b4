//! A build as a tar archive of its folder.

use std::{
    collections::BTreeMap,
    io::{self, Read},
    path::Path,
};

use crate::{
    refusal::{SliceRefusal, bad, quoted},
    source_map,
};
use base::error::Failure;

/// Maximum size of an archive without its source maps, and of all other files in it, in bytes.
const MAX_SIZE: usize = 16 * 1024 * 1024;

/// Maximum size of an archive that is received, in bytes: source maps that are too large are left out of it.
pub const MAX_RECEIVED: usize = MAX_SIZE + 64 * 1024 * 1024;

/// The number of archives that may be received and checked at once. The files of each are in memory meanwhile.
pub const MAX_AT_ONCE: usize = 4;

/// Everything in an archive is in blocks of this size.
const BLOCK: u64 = 512;

/// Maximum number of files in a build, and of source maps besides.
const MAX_FILES: usize = 2000;

/// Maximum length of a path in a build, in bytes.
const MAX_PATH: usize = 200;

#[derive(Debug, Default)]
pub struct Unpacked {
    /// Its files, by path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The number of source maps that are not among them, because a build's maps may not be so large.
    pub maps_left_out: usize,
}

/// Reads an archive of `size` bytes.
pub fn read(archive: impl Read, size: u64) -> Result<Unpacked, Failure> {
    let unreadable =
        |_: io::Error| SliceRefusal::BadBuild("This is not a tar archive, or it is damaged".to_owned());
    let (mut files, mut of_maps) = (Files::default(), 0_u64);
    let mut archive = tar::Archive::new(archive);
    for entry in archive.entries().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        let path = path_in_build(&entry.path_bytes())?;
        match entry.header().entry_type() {
            tar::EntryType::Directory | tar::EntryType::XGlobalHeader => continue,
            tar::EntryType::Regular | tar::EntryType::Continuous => {}
            _ => return Err(bad(format!("{} is not a regular file", quoted(&path)))),
        }
        let (size, is_map) = (entry.size(), source_map::is_source_map(&path));
        if is_map {
            of_maps = of_maps.saturating_add(size).saturating_add(2 * BLOCK);
        }
        if !files.make_room(size, is_map)? {
            continue;
        }
        let mut content = Vec::new();
        entry.by_ref().take(size).read_to_end(&mut content).map_err(unreadable)?;
        files.add(&path, content)?;
    }
    if size.saturating_sub(of_maps) > MAX_SIZE as u64 {
        return Err(SliceRefusal::BuildTooLarge.into());
    }
    Ok(Unpacked { files: files.by_path, maps_left_out: files.maps_left_out })
}

/// The path of an entry. One that is too long is refused first: an archive can have one of many megabytes.
fn path_in_build(path: &[u8]) -> Result<String, Failure> {
    let path = path.strip_prefix(b"./").unwrap_or(path);
    if path.len() > MAX_PATH {
        return Err(bad(format!("A path in it has more than {MAX_PATH} bytes")));
    }
    Ok(String::from_utf8_lossy(path).into_owned())
}

/// Reads the files of a folder, with the same checks as [`read`]. Source maps that the server would leave out are left
/// out already.
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
                let (size, is_map) = (entry.metadata()?.len(), source_map::is_source_map(&path));
                if files.make_room(size, is_map)? {
                    files.add(&path, std::fs::read(entry.path())?)?;
                }
            } else {
                anyhow::bail!("{path:?} is not a regular file");
            }
        }
    }
    Ok(files.by_path)
}

/// Writes an archive of `files`; equal files give equal archives.
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
    by_path: BTreeMap<String, Vec<u8>>,
    /// Without source maps.
    others: Taken,
    maps: Taken,
    maps_left_out: usize,
}

/// The number of files and their size in bytes.
#[derive(Default)]
struct Taken {
    files: usize,
    size: u64,
}

impl Taken {
    /// Counts a file, unless it would be too many or too large.
    fn add(&mut self, size: u64, max_size: usize) -> bool {
        let sum = self.size.checked_add(size).filter(|sum| *sum <= max_size as u64);
        let Some(sum) = sum.filter(|_| self.files < MAX_FILES) else { return false };
        *self = Self { files: self.files + 1, size: sum };
        true
    }
}

impl Files {
    /// Counts a file of `size` bytes. Returns `false` for a source map that is left out: a build is not refused for
    /// its maps.
    fn make_room(&mut self, size: u64, is_map: bool) -> Result<bool, Failure> {
        if !is_map {
            let has_room = self.others.add(size, MAX_SIZE);
            return if has_room { Ok(true) } else { Err(SliceRefusal::BuildTooLarge.into()) };
        }
        let has_room = self.maps.add(size, source_map::MAX_SIZE);
        self.maps_left_out += usize::from(!has_room);
        Ok(has_room)
    }

    fn add(&mut self, path: &str, content: Vec<u8>) -> Result<(), Failure> {
        // The server compresses files itself, so that the compressed ones always match.
        if path.rsplit('.').next().is_some_and(|end| end == "br" || end == "gz") {
            return Ok(());
        }
        if !is_safe(path) {
            return Err(bad(format!("{} is not a valid path in a build", quoted(path))));
        }
        if self.by_path.insert(path.to_owned(), content).is_some() {
            return Err(bad(format!("{} is in the archive twice", quoted(path))));
        }
        Ok(())
    }
}

/// Returns `true` if a path stays inside the build and means the same to every browser and server.
pub(super) fn is_safe(path: &str) -> bool {
    path.len() <= MAX_PATH
        && path.split('/').all(|part| {
            !part.is_empty()
                && !part.starts_with('.')
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-@~".contains(&byte))
        })
}
