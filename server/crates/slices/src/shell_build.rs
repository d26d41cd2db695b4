//! A build of the shell: the page that loads the slices, with its code, and optionally the kits.

use std::collections::BTreeMap;

use axum::http::HeaderValue;

use crate::{
    brings::Shell,
    build::{Build, SHELL, SliceName, digest, integrity_of, is_of_build, no_version},
    refusal::{bad, quoted, reason},
};
use base::{error::Failure, text::shown};

/// The file that describes the shell, as `/slices.json` has it.
pub const DESCRIPTION: &str = "shell.json";

/// The page.
pub const PAGE: &str = "index.html";

/// The page's Content-Security-Policy, with the hashes of its inline scripts.
pub const POLICY: &str = "csp.txt";

/// The beginning of every policy of the page: what it does not name is forbidden.
const DENIES: &str = "default-src 'none';";

/// Checks that `files` are a build of the shell.
pub fn check(files: BTreeMap<String, Vec<u8>>) -> Result<Build, Failure> {
    let shell: Shell = serde_json::from_slice(content(&files, DESCRIPTION)?)
        .map_err(|error| bad(format!("Its {DESCRIPTION} can't be read: {}", reason(&error))))?;
    if !is_of_build(&shell.version) {
        return Err(no_version(&shell.version.to_string()));
    }
    let brings = shell.brings();
    brings.check(SHELL, &shell)?;
    let page = content(&files, PAGE)?;
    check_page(page, &files)?;
    let policy = HeaderValue::from_bytes(content(&files, POLICY)?.trim_ascii());
    if !policy.is_ok_and(|policy| policy.as_bytes().starts_with(DENIES.as_bytes())) {
        return Err(bad(format!("Its {POLICY} is not a policy that begins with \"{DENIES}\"")));
    }
    if let Some(kit) = &shell.kit_package {
        content(&files, kit.address.trim_start_matches('/'))?;
    }
    Ok(Build {
        name: SliceName::of_shell(),
        version: shell.version.clone(),
        shell: shell.kit.to_string(),
        integrity: integrity_of(page),
        brings,
        digest: digest(&files),
        as_shell: Some(shell),
        files,
    })
}

fn content<'a>(files: &'a BTreeMap<String, Vec<u8>>, path: &str) -> Result<&'a [u8], Failure> {
    let missing = || bad(format!("The build of the shell has no {}", shown(path, 100)));
    files.get(path).map(Vec::as_slice).ok_or_else(missing)
}

/// Checks that the files that the page's elements name are in the build, with the integrity that browsers check.
fn check_page(page: &[u8], files: &BTreeMap<String, Vec<u8>>) -> Result<(), Failure> {
    let page = str::from_utf8(page).map_err(|_| bad(format!("Its {PAGE} is not UTF-8")))?;
    let named = page.split("=\"/assets/").skip(1).filter_map(|rest| rest.split_once('"'));
    for (name, rest) in named {
        let file = format!("assets/{name}");
        let given = rest.trim_start().strip_prefix("integrity=\"").and_then(|rest| rest.split('"').next());
        let given =
            given.ok_or_else(|| bad(format!("Its page does not name the integrity of {}", quoted(&file))))?;
        if integrity_of(content(files, &file)?) != given {
            return Err(bad(format!("Its {file:?} is not the file whose integrity its page names")));
        }
    }
    Ok(())
}
