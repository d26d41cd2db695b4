//! A build of a slice: a folder of files, described by its manifest.

use std::collections::BTreeMap;

use base64::{Engine, prelude::BASE64_STANDARD};
use semver::Version;
use serde::Deserialize;
use sha2::{Digest, Sha256, Sha384};

use crate::{
    brings::{Brings, Shell},
    range::Range,
    refusal::{SliceRefusal, bad, quoted, reason},
};
use base::{error::Failure, text::shown};

/// The name of the shell, whose builds are published like those of a slice.
pub const SHELL: &str = "mfe-shell";

/// The file that describes a build.
pub const MANIFEST: &str = "mf-manifest.json";

/// The shared library whose version range says which shells a slice was built for.
pub(super) const KIT: &str = "mfe-kit";

/// The module that every slice exposes.
pub(super) const MODULE: &str = "./slice";

/// A slice's name, which is the name of its package: `mfe-` and its noun.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SliceName(String);

impl SliceName {
    /// Parses `text`. Names are used in URLs, so they contain only lower-case letters, digits and
    /// dashes.
    pub fn parse(text: &str) -> Option<Self> {
        let about = text.strip_prefix("mfe-")?;
        let is_name = text.len() <= 64
            && about.starts_with(|first: char| first.is_ascii_lowercase())
            && about.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        is_name.then(|| Self(text.to_owned()))
    }

    /// Parses the name in a request. No slice has an invalid name.
    pub fn from_request(text: &str) -> Result<Self, Failure> {
        Self::parse(text).ok_or_else(|| SliceRefusal::SliceNotFound(text.to_owned()).into())
    }

    /// Parses the version in a request. No build has an invalid version.
    pub fn version_from_request(&self, text: &str) -> Result<Version, Failure> {
        let unknown =
            |_| SliceRefusal::BuildNotFound { name: self.0.clone(), version: text.to_owned() }.into();
        Version::parse(text).map_err(unknown)
    }

    pub fn of_shell() -> Self {
        Self(SHELL.to_owned())
    }

    pub fn is_shell(&self) -> bool {
        self.0 == SHELL
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The slice's global variable on the page, which must be a JavaScript identifier.
    pub(super) fn container(&self) -> String {
        self.0.replace('-', "_")
    }
}

/// A build that has been checked.
#[derive(Clone, Debug)]
pub struct Build {
    pub name: SliceName,
    /// Its version, which no other build of the slice has.
    pub version: Version,
    /// The range of mfe-kit versions that it was built for; for a build of the shell, the version that it has.
    pub shell: String,
    /// The subresource integrity of its manifest, as browsers check it; for a build of the shell, that of its page.
    pub integrity: String,
    pub brings: Brings,
    /// The shell, if this is a build of it.
    pub as_shell: Option<Shell>,
    /// The digest of all its files: equal digests mean equal builds.
    pub digest: String,
    /// Its files, by their path inside the build.
    pub files: BTreeMap<String, Vec<u8>>,
}

// The parts of the manifest that are read; Module Federation's plugin writes it.

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    name: String,
    meta_data: MetaData,
    shared: Vec<Library>,
    remotes: Vec<serde_json::Value>,
    exposes: Vec<Exposed>,
    #[serde(default)]
    brings: Brings,
    #[serde(default)]
    integrity: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MetaData {
    build_info: BuildInfo,
    remote_entry: RemoteEntry,
    global_name: String,
    public_path: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BuildInfo {
    build_version: String,
    build_name: String,
}

#[derive(Deserialize)]
struct RemoteEntry {
    name: String,
    path: String,
}

/// A library that a build uses from the shell, with the range of its versions that it was built for.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Library {
    name: String,
    required_version: String,
}

#[derive(Deserialize)]
struct Exposed {
    path: String,
    assets: Assets,
}

#[derive(Deserialize)]
struct Assets {
    js: Loads,
    css: Loads,
}

#[derive(Deserialize)]
struct Loads {
    sync: Vec<String>,
    r#async: Vec<String>,
}

impl Build {
    /// Checks that `files` are a build that `shell` can load.
    pub fn check(files: BTreeMap<String, Vec<u8>>, shell: &Shell) -> Result<Self, Failure> {
        let bytes = files
            .get(MANIFEST)
            .ok_or_else(|| bad(format!("This is not a build of a slice: it has no {MANIFEST}")))?;
        let manifest: Manifest = serde_json::from_slice(bytes)
            .map_err(|error| bad(format!("Its {MANIFEST} can't be read: {}", reason(&error))))?;
        let name = name_of(&manifest)?;
        let version = version_of(&manifest)?;
        check_references(&manifest, &files)?;
        let entry = path(&[&manifest.meta_data.remote_entry.path, &manifest.meta_data.remote_entry.name]);
        // The code can't be run here, but a page that is served in place of a missing file is detected.
        let code = files.get(&entry).map(|code| String::from_utf8_lossy(code));
        if !code.is_some_and(|code| code.contains(&name.container())) {
            return Err(bad(format!("Its {entry} does not define {}", name.container())));
        }
        let kit = manifest.shared.iter().find(|library| library.name == KIT);
        let kit = kit.ok_or_else(|| bad(format!("It does not share {KIT}, so no shell can load it")))?;
        check_libraries(&manifest.shared, shell)?;
        manifest.brings.check(name.as_str(), shell)?;
        check_integrity(&manifest.integrity, &files)?;
        Ok(Self {
            name,
            version,
            shell: kit.required_version.clone(),
            integrity: integrity_of(bytes),
            brings: manifest.brings,
            as_shell: None,
            digest: digest(&files),
            files,
        })
    }
}

impl Library {
    /// The kit, in the range that is listed for a build.
    pub fn kit(range: &str) -> Self {
        Self { name: KIT.to_owned(), required_version: range.to_owned() }
    }

    /// The libraries that `manifest` names, if it can be read.
    pub fn all_in(manifest: &[u8]) -> Option<Vec<Self>> {
        let manifest: Manifest = serde_json::from_slice(manifest).ok()?;
        Some(manifest.shared)
    }
}

/// Checks that the shell's versions of the libraries are in the ranges that a build names.
pub(super) fn check_libraries(libraries: &[Library], shell: &Shell) -> Result<(), Failure> {
    libraries.iter().try_for_each(|library| check_library(&library.name, &library.required_version, shell))
}

/// Checks that the shell's version of the library `name` is in `range`, as browsers do.
fn check_library(name: &str, range: &str, shell: &Shell) -> Result<(), Failure> {
    let is_of_kit = name.strip_prefix(KIT).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if !is_of_kit && shell.libraries.is_empty() {
        return Ok(());
    }
    let carried = if is_of_kit { Some(&shell.kit) } else { shell.libraries.get(name) };
    let library = shown(name, 100);
    let parsed = Range::parse(range).ok_or_else(|| {
        let range = quoted(range);
        bad(format!("The range of {library} versions that it was built for is invalid: {range}"))
    })?;
    if carried.is_some_and(|version| parsed.matches(version)) {
        return Ok(());
    }
    Err(SliceRefusal::WrongShell {
        library,
        range: range.to_owned(),
        carried: carried.map_or_else(|| "none".to_owned(), ToString::to_string),
    }
    .into())
}

fn name_of(manifest: &Manifest) -> Result<SliceName, Failure> {
    let named = &manifest.meta_data.build_info.build_name;
    let name = SliceName::parse(named).ok_or_else(|| {
        let named = quoted(named);
        bad(format!(
            "{named} is not a slice's name: that is mfe- followed by lower-case letters, digits and dashes"
        ))
    })?;
    if name.is_shell() {
        return Err(bad(format!("{SHELL} is the name of the shell, which has no {MANIFEST}")));
    }
    for given in [&manifest.name, &manifest.meta_data.global_name] {
        if *given != name.container() {
            return Err(bad(format!("Its manifest names {}, but its package is {named}", quoted(given))));
        }
    }
    Ok(name)
}

fn version_of(manifest: &Manifest) -> Result<Version, Failure> {
    let given = &manifest.meta_data.build_info.build_version;
    Version::parse(given).ok().filter(is_of_build).ok_or_else(|| no_version(given))
}

/// Returns whether a build can have this version.
pub(super) fn is_of_build(version: &Version) -> bool {
    version.build.is_empty() && version.to_string().len() <= 64
}

pub(super) fn no_version(given: &str) -> Failure {
    bad(format!("{} is not a version such as 1.4.0 or 1.4.0-rc.1", quoted(given)))
}

/// Checks that everything the manifest names is a file of the build.
fn check_references(manifest: &Manifest, files: &BTreeMap<String, Vec<u8>>) -> Result<(), Failure> {
    let meta = &manifest.meta_data;
    if let Some(elsewhere) = meta.public_path.as_deref().filter(|path| *path != "auto") {
        return Err(bad(format!("Its manifest points to {} instead of its own folder", quoted(elsewhere))));
    }
    if !manifest.remotes.is_empty() {
        return Err(bad("It loads other slices, which only the shell may do"));
    }
    let module = manifest.exposes.iter().find(|exposed| exposed.path == MODULE);
    module.ok_or_else(|| bad(format!("It does not expose {MODULE}")))?;
    let assets = manifest.exposes.iter().flat_map(|exposed| {
        let Assets { js, css } = &exposed.assets;
        [&js.sync, &js.r#async, &css.sync, &css.r#async].into_iter().flatten().cloned()
    });
    let entry = path(&[&meta.remote_entry.path, &meta.remote_entry.name]);
    for file in std::iter::once(entry).chain(assets) {
        if !files.contains_key(&file) {
            return Err(bad(format!("Its manifest names {}, which is not in the build", quoted(&file))));
        }
    }
    Ok(())
}

/// Checks that the manifest names the integrity of every script and style, which browsers then check.
fn check_integrity(
    named: &BTreeMap<String, String>,
    files: &BTreeMap<String, Vec<u8>>,
) -> Result<(), Failure> {
    for (file, content) in files {
        if !matches!(file.rsplit('.').next(), Some("js" | "mjs" | "css")) {
            continue;
        }
        match named.get(file) {
            None => return Err(bad(format!("Its manifest does not name the integrity of {file:?}"))),
            Some(integrity) if *integrity != integrity_of(content) => {
                return Err(bad(format!("Its {file:?} is not the file whose integrity its manifest names")));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// The subresource integrity of a file.
pub(super) fn integrity_of(content: &[u8]) -> String {
    format!("sha384-{}", BASE64_STANDARD.encode(Sha384::digest(content)))
}

fn path(parts: &[&str]) -> String {
    parts
        .iter()
        .map(|part| part.trim_end_matches('/'))
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("/")
}

pub(super) fn digest(files: &BTreeMap<String, Vec<u8>>) -> String {
    let mut all = Sha256::new();
    for (path, content) in files {
        // Lengths first, so that no other split of the same bytes has the same digest.
        for part in [path.as_bytes(), content] {
            all.update((part.len() as u64).to_be_bytes());
            all.update(part);
        }
    }
    hex::encode(all.finalize())
}
