//! A build whose screens throw an error when they are drawn, for demos and tests of what the portal does then. One that
//! can't even be loaded would not be seen: browsers load the build before it.

use std::collections::BTreeMap;

use semver::{Prerelease, Version};
use serde_json::json;

use crate::{
    activate::activate,
    build::{Build, KIT, MANIFEST, MODULE, SliceName, integrity_of},
    builds,
    of_world::Slices,
    publish::{Publication, publish},
    refusal::SliceRefusal,
    trail::Mark,
};
use base::error::Failure;
use lending::events::Trail;

const ENTRY: &str = "remoteEntry.js";

/// A container of Module Federation.
const CODE: &str = "var $container = {
  init: () => undefined,
  get: () => Promise.resolve(() => ({
    default: {
      name: $name,
      version: $version,
      routes: $paths.map((path) => ({
        path,
        Component: () => {
          throw new Error('This screen breaks on purpose.');
        },
      })),
    },
  })),
};
";

/// Publishes a build of the slice `name` that breaks, and makes it live. It has the same screens as the live one. If that
/// breaks already, or such a build of it is there, none is published.
pub async fn publish_breaking(slices: &Slices, name: &SliceName) -> Result<(), Failure> {
    let all = builds::all(slices).await?;
    let not_found = || SliceRefusal::SliceNotFound(name.as_str().to_owned());
    let slice = all.iter().find(|slice| slice.name == name.as_str()).ok_or_else(not_found)?;
    let live = slice.live.as_ref().and_then(|live| slice.build(live)).ok_or_else(not_found)?;
    let breaks = Prerelease::new("breaks").map_err(Failure::internal)?;
    if live.version.pre == breaks {
        return Ok(());
    }
    let Version { major, minor, patch, .. } = live.version;
    let version = Version { pre: breaks, ..Version::new(major, minor, patch + 1) };
    let mark = Mark::now(slices, Some("a story".to_owned()), Trail::default())?;
    if slice.build(&version).is_some() {
        activate(slices, name.clone(), version, false, true, mark).await?;
        return Ok(());
    }
    let container = name.container();
    let paths: Vec<&str> = live.brings.screens.iter().map(|screen| screen.path.as_str()).collect();
    let code = CODE
        .replace("$container", &container)
        .replace("$name", &json!(name.as_str()).to_string())
        .replace("$version", &json!(version.to_string()).to_string())
        .replace("$paths", &json!(paths).to_string());
    let none = json!({"sync": [], "async": []});
    let none = json!({"js": none, "css": none});
    let manifest = json!({
        "name": container,
        "metaData": {
            "buildInfo": {"buildVersion": version.to_string(), "buildName": name.as_str()},
            "remoteEntry": {"name": ENTRY, "path": "", "type": "global"},
            "globalName": container,
            "publicPath": "auto",
        },
        "shared": [{"name": KIT, "requiredVersion": live.shell, "singleton": true, "assets": none}],
        "remotes": [],
        "exposes": [{"name": "slice", "path": MODULE, "assets": none}],
        "brings": live.brings,
        "integrity": {ENTRY: integrity_of(code.as_bytes())},
    });
    let files = BTreeMap::from([
        (MANIFEST.to_owned(), manifest.to_string().into_bytes()),
        (ENTRY.to_owned(), code.into_bytes()),
    ]);
    let shell = builds::live_shell(&all).ok_or(SliceRefusal::NoPortal)?;
    let build = Build::check(files, shell)?;
    let publication = Publication { hold: false, share: None, is_watched: false, force: true };
    publish(slices, build, publication, mark).await?;
    Ok(())
}
