//! The build of a slice in a folder.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use serde_json::Value;

use slices::{MANIFEST, archive};

/// The build's folder: `folder` itself, or its `dist` if it is a package.
fn build_in(folder: &Path) -> PathBuf {
    let dist = folder.join("dist");
    let is_package = !folder.join(MANIFEST).exists() && dist.join(MANIFEST).exists();
    if is_package { dist } else { folder.to_owned() }
}

pub fn files_in(folder: &Path) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
    let folder = build_in(folder);
    if !folder.join(MANIFEST).exists() {
        bail!("{} is not a build of a slice: it has no {MANIFEST}", folder.display());
    }
    check_build_is_current(&folder)?;
    archive::read_folder(&folder).with_context(|| format!("can't read the build in {}", folder.display()))
}

pub fn version_in(folder: &Path) -> anyhow::Result<String> {
    let manifest: Value = serde_json::from_slice(&std::fs::read(build_in(folder).join(MANIFEST))?)?;
    Ok(manifest["metaData"]["buildInfo"]["buildVersion"].as_str().unwrap_or_default().to_owned())
}

/// Fails if the version in package.json was raised but the slice was not rebuilt.
fn check_build_is_current(folder: &Path) -> anyhow::Result<()> {
    let Some(package) = folder.parent().map(|parent| parent.join("package.json")) else { return Ok(()) };
    let read = |file: &Path| -> Option<Value> { serde_json::from_slice(&std::fs::read(file).ok()?).ok() };
    let (Some(package), Some(manifest)) = (read(&package), read(&folder.join(MANIFEST))) else {
        return Ok(());
    };
    let built = &manifest["metaData"]["buildInfo"];
    if package["name"] == built["buildName"] && package["version"] != built["buildVersion"] {
        bail!(
            "the build has version {}, but package.json has {}: rebuild it first",
            built["buildVersion"].as_str().unwrap_or("unknown"),
            package["version"].as_str().unwrap_or("unknown")
        );
    }
    Ok(())
}
