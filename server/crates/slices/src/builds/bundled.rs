//! The builds of the shell and of slices that a world has without anything published in it.

use std::{collections::BTreeMap, path::Path};

use semver::Version;
use serde::Deserialize;

use super::{Origin, SliceBuild, SliceBuilds};
use crate::{
    brings::{Brings, MenuEntry, Screen, Shell, SliceFailures},
    build::{SHELL, integrity_of},
    of_world::Slices,
    shell_build,
};
use base::error::Failure;

/// The builds that a world has without anything published in it: for `main`, those in the portal's folder; for a
/// sandbox, those of `main`.
#[derive(Clone, Debug, Default)]
pub struct Bundled {
    /// The sandbox; `None` for `main`.
    pub sandbox_id: Option<String>,
    /// The builds, by the slice's name; the shell's are among them.
    pub slices: BTreeMap<String, Given>,
}

/// The builds of a slice that a world is given, and those of them that are live and previous unless it chooses others.
#[derive(Clone, Debug)]
pub struct Given {
    pub(crate) live: Option<Version>,
    pub(super) previous: Option<Version>,
    pub(super) builds: Vec<SliceBuild>,
}

impl Given {
    /// One build, which is live.
    fn only(build: SliceBuild) -> Self {
        Self { live: Some(build.version.clone()), previous: None, builds: vec![build] }
    }
}

impl From<SliceBuilds> for Given {
    fn from(SliceBuilds { live, previous, builds, .. }: SliceBuilds) -> Self {
        let builds = builds.into_iter().map(|build| SliceBuild { is_own: false, ..build }).collect();
        Self { live, previous, builds }
    }
}

#[derive(Deserialize)]
struct List {
    shell: Option<Shell>,
    #[serde(default)]
    slices: BTreeMap<String, Listed>,
}

#[derive(Deserialize)]
struct Listed {
    version: Version,
    entry: String,
    integrity: String,
    shell: String,
    #[serde(default)]
    screens: Vec<Screen>,
    #[serde(default)]
    menu: Vec<MenuEntry>,
    #[serde(default)]
    failures: SliceFailures,
}

impl Bundled {
    /// Reads the portal that the service serves and, for a sandbox, the builds of `main`. They are read each time,
    /// because others may replace them while the service runs.
    pub async fn of(slices: &Slices) -> Result<Self, Failure> {
        let bundled = Self::read(slices.settings.portal_dir.as_deref()).await?;
        let Some(id) = &slices.sandbox_id else { return Ok(bundled) };
        let of_main = super::all(&mut *slices.shared.database.read().await?, &bundled).await?;
        let slices = of_main.into_iter().map(|slice| (slice.name.clone(), Given::from(slice))).collect();
        Ok(Self { sandbox_id: Some(id.clone()), slices })
    }

    /// Reads the `slices.json` that the portal's build wrote to `folder`; without a folder, the
    /// result is empty.
    ///
    /// # Errors
    /// [`Failure::Internal`] when the file can't be read.
    pub async fn read(folder: Option<&Path>) -> Result<Self, Failure> {
        let Some(folder) = folder else { return Ok(Self::default()) };
        let unreadable = |error: String| Failure::Internal(format!("slices.json: {error}"));
        let list = tokio::fs::read(folder.join("slices.json")).await;
        let list = list.map_err(|error| unreadable(error.to_string()))?;
        let list: List = serde_json::from_slice(&list).map_err(|error| unreadable(error.to_string()))?;
        let shell = match list.shell {
            Some(shell) => Some((SHELL.to_owned(), Given::only(bundled_shell(shell, folder).await))),
            None => None,
        };
        let slices = list.slices.into_iter().map(|(name, listed)| {
            let build = SliceBuild {
                version: listed.version,
                origin: Origin::Bundled,
                shell: listed.shell,
                integrity: listed.integrity,
                size: None,
                published_at: None,
                published_by: None,
                entry: listed.entry,
                digest: None,
                is_own: false,
                brings: Brings { screens: listed.screens, menu: listed.menu, failures: listed.failures },
                as_shell: None,
            };
            (name, Given::only(build))
        });
        Ok(Self { sandbox_id: None, slices: slices.chain(shell).collect() })
    }
}

/// The shell in the portal's folder.
async fn bundled_shell(shell: Shell, folder: &Path) -> SliceBuild {
    let page = tokio::fs::read(folder.join(shell_build::PAGE)).await.unwrap_or_default();
    SliceBuild {
        version: shell.version.clone(),
        origin: Origin::Bundled,
        shell: shell.kit.to_string(),
        integrity: integrity_of(&page),
        size: None,
        published_at: None,
        published_by: None,
        entry: "/".to_owned(),
        digest: None,
        is_own: false,
        brings: shell.brings(),
        as_shell: Some(shell),
    }
}
