//! The builds of the shell and of slices that a world has without anything published in it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

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
use store::Database;

/// The builds that a world has without anything published in it: for `main`, those in the portal's folder; for a
/// sandbox, those of `main`.
#[derive(Clone, Debug, Default)]
pub struct Bundled {
    /// The sandbox; `None` for `main`.
    pub sandbox_id: Option<String>,
    /// The builds, by the slice's name; the shell's are among them.
    pub slices: BTreeMap<String, Given>,
    folder: Option<PathBuf>,
    /// The store of `main`, if they are for a sandbox.
    pub(super) main: Option<Database>,
}

/// The builds of a slice that a world is given, and those of them that are live and previous unless it chooses others.
#[derive(Clone, Debug)]
pub struct Given {
    pub(super) live: Option<Version>,
    pub(super) previous: Option<Version>,
    pub(super) builds: Vec<SliceBuild>,
}

impl Given {
    pub(crate) fn live_build(&self) -> Option<&SliceBuild> {
        self.builds.iter().find(|build| self.live.as_ref() == Some(&build.version))
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

impl Listed {
    /// The shell in the portal's folder, as slices are listed.
    async fn of_shell(shell: &Shell, folder: &Path) -> Self {
        let page = tokio::fs::read(folder.join(shell_build::PAGE)).await.unwrap_or_default();
        let Brings { screens, menu, failures } = shell.brings();
        Self {
            version: shell.version.clone(),
            entry: "/".to_owned(),
            integrity: integrity_of(&page),
            shell: shell.kit.to_string(),
            screens,
            menu,
            failures,
        }
    }

    /// The slice with this build alone, which is live; `as_shell` if it is the shell.
    fn given(self, as_shell: Option<Shell>) -> Given {
        let Self { version, entry, integrity, shell, screens, menu, failures } = self;
        let build = SliceBuild {
            version: version.clone(),
            origin: Origin::Bundled,
            shell,
            integrity,
            size: None,
            published_at: None,
            published_by: None,
            entry,
            digest: None,
            is_own: false,
            brings: Brings { screens, menu, failures },
            as_shell,
        };
        Given { live: Some(version), previous: None, builds: vec![build] }
    }
}

impl Bundled {
    /// Reads the portal that the service serves and, for a sandbox, the builds of `main`. They are read each time,
    /// because others may replace them while the service runs.
    pub async fn of(slices: &Slices) -> Result<Self, Failure> {
        let bundled = Self::read(slices.settings.portal_dir.as_deref()).await?;
        let Some(id) = &slices.sandbox_id else { return Ok(bundled) };
        let main = &slices.shared.database;
        let of_main = super::read_all(&mut main.read().await?, &bundled).await?;
        let given = of_main.into_iter().map(|slice| (slice.name.clone(), Given::from(slice))).collect();
        Ok(Self { sandbox_id: Some(id.clone()), slices: given, main: Some(main.clone()), ..bundled })
    }

    /// Reads the `slices.json` that the portal's build wrote to `folder`; without a folder, the
    /// result is empty.
    async fn read(folder: Option<&Path>) -> Result<Self, Failure> {
        let Some(folder) = folder else { return Ok(Self::default()) };
        let unreadable = |error: String| Failure::Internal(format!("slices.json: {error}"));
        let list = tokio::fs::read(folder.join("slices.json")).await;
        let list = list.map_err(|error| unreadable(error.to_string()))?;
        let list: List = serde_json::from_slice(&list).map_err(|error| unreadable(error.to_string()))?;
        let slices = list.slices.into_iter().map(|(name, listed)| (name, listed.given(None)));
        let mut slices: BTreeMap<String, Given> = slices.collect();
        if let Some(shell) = list.shell {
            let listed = Listed::of_shell(&shell, folder).await;
            slices.insert(SHELL.to_owned(), listed.given(Some(shell)));
        }
        Ok(Self { sandbox_id: None, slices, folder: Some(folder.to_owned()), main: None })
    }

    /// The bundled file at `address`; `None` if it is on another origin or can't be read.
    pub(super) async fn file(&self, address: &str) -> Option<Vec<u8>> {
        let path = self.folder.as_ref()?.join(address.strip_prefix('/')?);
        tokio::fs::read(path).await.ok()
    }
}
