//! The lock on the data folder: `mkopo serve` and the commands that work without a server hold it.

use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};

use settings::StoreSettings;

/// Locks the database in the data folder until the file is dropped, or the process ends in any way. A
/// database on PostgreSQL is not locked, because several servers share it.
///
/// # Errors
/// While another process holds the lock: a sentence that ends with `instead`.
pub fn lock(store: &StoreSettings, instead: &str) -> anyhow::Result<Option<File>> {
    let Ok(database) = store.database_file() else { return Ok(None) };
    if store.url().is_none() {
        store.create_data_dir()?;
    }
    lock_file(&database, instead).map(Some)
}

/// Like [`lock`], for the database in this file.
pub fn lock_file(database: &Path, instead: &str) -> anyhow::Result<File> {
    let name = real_file(database).with_added_extension("lock");
    let can_not = || {
        let what = if name.exists() {
            "run this as the user whose file it is"
        } else {
            "its folder must exist and be writable"
        };
        format!("can't lock {}; {what}", name.display())
    };
    let file = File::options().create(true).append(true).open(&name).with_context(can_not)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            bail!("{} is in use by another mkopo, such as a running service; {instead}", database.display())
        }
        Err(TryLockError::Error(error)) => Err(error).with_context(can_not),
    }
}

/// The file that symbolic links at `path` lead to: whoever uses it by another path has to get the same lock.
pub fn real_file(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A missing file is created in its folder.
    let in_real_folder = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(in_real_folder).unwrap_or_else(|| path.to_owned())
}
