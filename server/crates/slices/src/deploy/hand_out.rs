//! Hands each slice's container its deploy token, as a file in a folder that the container mounts.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{AddedToken, NewToken, add, digest, list, revoke};
use crate::{build::SliceName, of_world::Slices};
use base::error::Failure;
use lending::events::Trail;
use store::query_scalar;

/// The name of the tokens.
const NAME: &str = "container";

/// The file in each slice's folder.
const FILE: &str = "token";

/// The lifetime of the tokens: as long as the stack may stand.
const LIFETIME: Duration = Duration::from_hours(24 * 3650);

/// Writes a new deploy token to the file `token` of each folder in `folder` that has the name of a slice. A file that
/// is there stays as it is: its token may have been revoked on purpose.
pub async fn hand_out(slices: &Slices, folder: &Path) -> anyhow::Result<()> {
    for (slice, file) in files_in(folder)? {
        match fs::read_to_string(&file) {
            Ok(token) => warn_if_unknown(slices, &slice, token.trim(), &file).await?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let token = make(slices, slice).await?;
                write(&file, &token)
                    .map_err(|error| anyhow::anyhow!("can't write {}: {error}", file.display()))?;
            }
            Err(error) => anyhow::bail!("can't read {}: {error}", file.display()),
        }
    }
    Ok(())
}

/// The slices that have a folder, with their files.
fn files_in(folder: &Path) -> anyhow::Result<Vec<(SliceName, PathBuf)>> {
    let entries = fs::read_dir(folder);
    let entries = entries.map_err(|error| anyhow::anyhow!("can't read {}: {error}", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| SliceName::parse(name.to_str()?));
        if let Some(slice) = name.filter(|_| path.is_dir()) {
            files.push((slice, path.join(FILE)));
        }
    }
    files.sort_by(|(one, _), (other, _)| one.as_str().cmp(other.as_str()));
    Ok(files)
}

const IS_KNOWN: &str = "SELECT count(*) FROM deploy_token WHERE digest = $1";

async fn warn_if_unknown(
    slices: &Slices,
    slice: &SliceName,
    token: &str,
    file: &Path,
) -> Result<(), Failure> {
    let mut reader = slices.shared.database.read().await?;
    let known: i64 = query_scalar(IS_KNOWN).bind(digest(token)).fetch_one(&mut reader).await?;
    if known == 0 {
        let file = file.display();
        tracing::warn!(slice.name = slice.as_str(), %file, "deploy_token.unknown: delete the file for a new one");
    }
    Ok(())
}

/// Adds a token, in place of the one whose file is gone.
async fn make(slices: &Slices, slice: SliceName) -> Result<String, Failure> {
    let (database, now) = (&slices.shared.database, slices.clock.unset_now());
    let trail = Trail::of_command_line(now);
    let all = list(&mut database.read().await?).await?;
    if all.iter().any(|token| token.slice == slice.as_str() && token.name == NAME) {
        let (slice, name) = (slice.as_str().to_owned(), NAME.to_owned());
        revoke(database, slice, name, &trail).await?;
    }
    let new = NewToken { slice, name: NAME.to_owned(), lifetime: LIFETIME };
    let AddedToken { token, .. } = add(database, &slices.randomness, new, now, &trail).await?;
    Ok(token)
}

/// Writes the file at once, readable by its owner and group.
fn write(file: &Path, token: &str) -> io::Result<()> {
    let new = file.with_extension("new");
    fs::write(&new, token)?;
    fs::set_permissions(&new, PermissionsExt::from_mode(0o440))?;
    fs::rename(new, file)
}
