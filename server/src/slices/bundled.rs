//! What came with the portal's own files: its shell, and a build of each slice.

use std::{collections::BTreeMap, path::Path};

use semver::Version;
use serde::{Deserialize, Serialize};

use super::{Origin, SliceBuild};
use crate::{Sandbox, error::Failure};

/// The page that slices are loaded by.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shell {
    /// Of mfe-shell.
    pub version: Version,
    /// Of mfe-kit, which slices name in their range.
    pub kit: Version,
    /// Names this build of it.
    pub build: String,
}

/// What the portal's folder has.
#[derive(Clone, Debug, Default)]
pub struct Bundled {
    /// The shell; none without a portal.
    pub shell: Option<Shell>,
    /// The builds, by the slice's name.
    pub slices: BTreeMap<String, SliceBuild>,
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
}

impl Bundled {
    /// What the service serves. Read each time: a new portal is put in the old one's place while
    /// the service runs.
    ///
    /// # Errors
    /// As [`Bundled::read`].
    pub async fn of(sandbox: &Sandbox) -> Result<Self, Failure> {
        Self::read(sandbox.settings.portal_dir.as_deref()).await
    }

    /// Reads the `slices.json` of the portal in `folder`, which its build wrote; without a folder
    /// there is nothing.
    ///
    /// # Errors
    /// [`Failure::Internal`] when it is there and can't be read.
    pub async fn read(folder: Option<&Path>) -> Result<Self, Failure> {
        let Some(folder) = folder else { return Ok(Self::default()) };
        let unreadable = |error: String| Failure::Internal(format!("slices.json: {error}"));
        let list = tokio::fs::read(folder.join("slices.json")).await;
        let list = list.map_err(|error| unreadable(error.to_string()))?;
        let list: List = serde_json::from_slice(&list).map_err(|error| unreadable(error.to_string()))?;
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
            };
            (name, build)
        });
        Ok(Self { shell: list.shell, slices: slices.collect() })
    }

    /// The shell that a build has to fit.
    ///
    /// # Errors
    /// [`Failure::NoPortal`] when there is none.
    pub fn shell(&self) -> Result<&Shell, Failure> {
        self.shell.as_ref().ok_or(Failure::NoPortal)
    }
}
