//! The build of a slice, or of the shell, in a folder.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use serde_json::Value;

use slices::{MANIFEST, SHELL, archive, shell_build};

/// The build's folder: `folder` itself, or its `dist` if it is a package.
fn build_in(folder: &Path) -> PathBuf {
    let dist = folder.join("dist");
    if !is_build(folder) && is_build(&dist) { dist } else { folder.to_owned() }
}

fn is_build(folder: &Path) -> bool {
    [MANIFEST, shell_build::DESCRIPTION].iter().any(|file| folder.join(file).exists())
}

/// The name and the version of a build.
struct Built {
    name: String,
    version: String,
}

impl Built {
    fn in_folder(folder: &Path) -> anyhow::Result<Self> {
        let read = |file: &str| -> anyhow::Result<Value> {
            Ok(serde_json::from_slice(&std::fs::read(folder.join(file))?)?)
        };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        if folder.join(shell_build::DESCRIPTION).exists() {
            let version = text(&read(shell_build::DESCRIPTION)?["version"]);
            return Ok(Self { name: SHELL.to_owned(), version });
        }
        let built = &read(MANIFEST)?["metaData"]["buildInfo"];
        Ok(Self { name: text(&built["buildName"]), version: text(&built["buildVersion"]) })
    }
}

pub fn files_in(folder: &Path) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
    let folder = build_in(folder);
    if !is_build(&folder) {
        bail!("{} is not a build of a slice: it has no {MANIFEST}", folder.display());
    }
    check_build_is_current(&folder)?;
    archive::read_folder(&folder).with_context(|| format!("can't read the build in {}", folder.display()))
}

pub fn version_in(folder: &Path) -> anyhow::Result<String> {
    Ok(Built::in_folder(&build_in(folder))?.version)
}

/// Fails if the version in package.json was raised but the slice was not rebuilt.
fn check_build_is_current(folder: &Path) -> anyhow::Result<()> {
    let Some(package) = folder.parent().map(|parent| parent.join("package.json")) else { return Ok(()) };
    let read = |file: &Path| -> Option<Value> { serde_json::from_slice(&std::fs::read(file).ok()?).ok() };
    let (Some(package), Ok(built)) = (read(&package), Built::in_folder(folder)) else { return Ok(()) };
    if package["name"] == built.name && package["version"] != built.version {
        bail!(
            "the build has version {}, but package.json has {}: rebuild it first",
            built.version,
            package["version"].as_str().unwrap_or("unknown")
        );
    }
    Ok(())
}
