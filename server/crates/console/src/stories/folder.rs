//! The stories of this server: those of the product, and those of the folder that `MKOPO_STORIES` names.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use parking_lot::Mutex;
use serde_json::Value;

use super::file::{BadFile, MAX_BYTES, Story};
use base::error::Failure;

const OWN: [(&str, &str); 6] = [
    ("first-payout", include_str!("../../../../stories/first-payout.yaml")),
    ("lost-answer", include_str!("../../../../stories/lost-answer.yaml")),
    ("next-day", include_str!("../../../../stories/next-day.yaml")),
    ("refused", include_str!("../../../../stories/refused.yaml")),
    ("slice-breaks", include_str!("../../../../stories/slice-breaks.yaml")),
    ("two-people", include_str!("../../../../stories/two-people.yaml")),
];

/// The most files of a folder that are read.
const MAX_FILES: usize = 200;

/// A file with a story.
#[derive(Debug)]
pub struct File {
    /// The name of the story: that of the file, without its ending.
    pub name: String,
    pub text: String,
    pub story: Story,
}

impl File {
    /// The story in a call, in place of a file.
    pub fn given(story: &Value) -> Result<Self, Failure> {
        let (name, text) = ("given".to_owned(), story.to_string());
        let story = Story::read(&name, &text).map_err(|bad| refused(&bad.reason))?;
        Ok(Self { name, text, story })
    }
}

/// The stories of this server. Files are read again when they have changed; a file that is wrong then leaves the story
/// as it was.
#[derive(Debug)]
pub struct Stories {
    folder: Option<PathBuf>,
    own: Vec<Arc<File>>,
    read: Mutex<BTreeMap<String, Read>>,
}

/// A file as it was read last.
#[derive(Debug)]
struct Read {
    stamp: Option<(SystemTime, u64)>,
    /// The latest one that could be read.
    good: Option<Arc<File>>,
    /// Why the latest text could not be read.
    bad: Option<BadFile>,
}

impl Stories {
    /// The stories of the product and of `folder`.
    pub fn open(folder: Option<PathBuf>) -> Self {
        let own = OWN.into_iter().filter_map(|(name, text)| {
            let story = Story::read(&format!("{name}.yaml"), text);
            let story = story.inspect_err(|bad| tracing::error!(%bad, "story.refused")).ok()?;
            Some(Arc::new(File { name: name.to_owned(), text: text.to_owned(), story }))
        });
        let stories = Self { folder, own: own.collect(), read: Mutex::default() };
        stories.all();
        stories
    }

    /// All stories in the order of their names, and the files that can't be read. A file of the folder comes before a
    /// story of the product with the same name.
    pub fn all(&self) -> (Vec<Arc<File>>, Vec<BadFile>) {
        let mut read = self.read.lock();
        let mut bad = self.folder.as_deref().map(|folder| read_again(folder, &mut read)).unwrap_or_default();
        let mut all: BTreeMap<String, Arc<File>> =
            self.own.iter().map(|file| (file.name.clone(), Arc::clone(file))).collect();
        for (name, read) in &*read {
            bad.extend(read.bad.clone());
            if let Some(good) = &read.good {
                all.insert(name.clone(), Arc::clone(good));
            }
        }
        (all.into_values().collect(), bad)
    }

    /// The story with this name.
    ///
    /// # Errors
    /// [`Failure::BadField`], with the reason if there is a file that can't be read.
    pub fn find(&self, name: &str) -> Result<Arc<File>, Failure> {
        let (all, bad) = self.all();
        if let Some(found) = all.into_iter().find(|file| file.name == name) {
            return Ok(found);
        }
        let bad = bad.into_iter().find(|bad| name_of(Path::new(&bad.file)) == Some(name));
        Err(bad.map_or_else(|| refused("There is no story with this name"), |bad| refused(&bad.to_string())))
    }
}

/// The refusal of the field `story`, for the reason in this sentence.
pub fn refused(sentence: &str) -> Failure {
    Failure::bad_field("story", sentence.trim_end_matches('.'))
}

/// Reads the files of `folder` that have changed, and forgets those that are gone. Returns why the folder
/// can't be read, and the files that are not.
fn read_again(folder: &Path, read: &mut BTreeMap<String, Read>) -> Vec<BadFile> {
    let whole = |reason: String| vec![BadFile { file: folder.display().to_string(), line: None, reason }];
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return whole(format!("The folder can't be read: {error}.")),
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let paths: BTreeSet<PathBuf> = paths.filter(|path| name_of(path).is_some()).collect();
    let mut names = BTreeSet::new();
    let (mut paths, doubled): (Vec<PathBuf>, Vec<PathBuf>) =
        paths.into_iter().partition(|path| names.insert(path.file_stem().map(OsStr::to_owned)));
    let mut bad: Vec<BadFile> = doubled.iter().map(|path| doubled_file(path)).collect();
    let is_too_many = paths.len() > MAX_FILES;
    paths.truncate(MAX_FILES);
    read.retain(|name, _| paths.iter().any(|path| name_of(path) == Some(name)));
    for path in &paths {
        let Some(name) = name_of(path) else { continue };
        let stamp = stamp(path);
        let before = read.get(name);
        if before.is_some_and(|before| before.stamp.is_some() && before.stamp == stamp) {
            continue;
        }
        let next = match read_file(path) {
            Ok(file) => Read { stamp, good: Some(Arc::new(file)), bad: None },
            Err(bad) => {
                tracing::warn!(%bad, "story.refused");
                Read { stamp, good: before.and_then(|before| before.good.clone()), bad: Some(bad) }
            }
        };
        read.insert(name.to_owned(), next);
    }
    if is_too_many {
        bad.extend(whole(format!("Only the first {MAX_FILES} files are read.")));
    }
    bad
}

fn doubled_file(path: &Path) -> BadFile {
    let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let reason = "Another file of the folder has this name already, with the ending .yaml.".to_owned();
    BadFile { file, line: None, reason }
}

/// The name of the story in the file of `path`; `None` if it is not a YAML file.
fn name_of(path: &Path) -> Option<&str> {
    let ending = path.extension()?.to_str()?;
    if ending == "yaml" || ending == "yml" { path.file_stem()?.to_str() } else { None }
}

fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let about = std::fs::metadata(path).ok()?;
    Some((about.modified().ok()?, about.len()))
}

pub fn read_file(path: &Path) -> Result<File, BadFile> {
    let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let bad = |reason: String| BadFile { file: file.clone(), line: None, reason };
    // Never read as a whole, however large it is.
    if stamp(path).is_some_and(|(_, size)| size > MAX_BYTES as u64) {
        return Err(bad(format!("A story has at most {} KiB.", MAX_BYTES / 1024)));
    }
    let text = std::fs::read_to_string(path).map_err(|error| bad(format!("It can't be read: {error}.")))?;
    let name =
        name_of(path).ok_or_else(|| bad("The name of a story's file ends in .yaml or .yml.".to_owned()))?;
    Ok(File { name: name.to_owned(), story: Story::read(&file, &text)?, text })
}
