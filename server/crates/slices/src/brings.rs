//! The shell, and the additions of a build to it: screens, menu entries, and messages for failures. The shell
//! draws routes and menu from them before it loads any code of the slice.

use std::collections::{BTreeMap, BTreeSet};

use semver::Version;
use serde::{Deserialize, Serialize};

use crate::refusal::{SliceRefusal, bad, quoted};
use base::{error::Failure, text::is_plain};
use lending::auth::Role;

/// First segments of paths that this server answers itself, or that are files of the portal.
const RESERVED: [&str; 16] = [
    ".well-known",
    "api",
    "assets",
    "console",
    "deploy",
    "docs",
    "healthz",
    "kit",
    "metrics",
    "open",
    "readyz",
    "slice-reports",
    "slices",
    "slices.json",
    "spans",
    "story",
];

/// Maximum number of screens, and of menu entries, of a slice.
const MAX: usize = 100;

/// The additions of a slice to the portal, as listed in its package.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Brings {
    pub screens: Vec<Screen>,
    pub menu: Vec<MenuEntry>,
    /// The messages that are shown in place of a screen.
    pub failures: SliceFailures,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Screen {
    /// Its path in the portal; a segment such as `:id` matches any.
    pub path: String,
    /// The title of the browser's tab while it is loaded.
    pub title: String,
    /// `true` if visitors who are not signed in may open it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub public: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MenuEntry {
    pub label: String,
    /// The path of the screen that it opens.
    pub to: String,
    /// The name of an icon of mfe-kit.
    pub icon: String,
    /// The position in the menu; lower numbers come first.
    pub position: u16,
    /// The roles that see it.
    pub roles: Vec<Role>,
    /// The path of the pages below it, such as `/loans/*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<String>,
}

/// Messages that the portal shows in place of a screen; it has defaults for those that are missing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SliceFailures {
    /// The message when no build of the slice could be loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<String>,
    /// The message when a screen has stopped working.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crash: Option<String>,
}

/// The page that loads the slices.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shell {
    /// The version of mfe-shell.
    pub version: Version,
    /// The version of mfe-kit, which slices name in their range.
    pub kit: Version,
    pub build: String,
    /// The libraries that it shares with slices, with their versions; empty in portals of earlier
    /// releases.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub libraries: BTreeMap<String, Version>,
    /// The screens of the shell itself; empty in portals of earlier releases, like the fields below.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub screens: Vec<Screen>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub menu: Vec<MenuEntry>,
    /// The icons that menu entries can have.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub icons: BTreeSet<String>,
    /// The npm package of mfe-kit that slices for this shell are built with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kit_package: Option<KitPackage>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KitPackage {
    /// Its path on this server, which names its version.
    pub address: String,
    /// Its hash, as npm writes it.
    pub integrity: String,
}

impl Shell {
    /// Its own screens and menu entries, as a slice would bring them.
    pub(super) fn brings(&self) -> Brings {
        Brings { screens: self.screens.clone(), menu: self.menu.clone(), failures: SliceFailures::default() }
    }
}

impl Brings {
    /// Checks that `shell` can draw the screens and menu entries of the slice `name`.
    pub(super) fn check(&self, name: &str, shell: &Shell) -> Result<(), Failure> {
        if self.screens.is_empty() {
            return Err(bad("It brings no screen: list its screens in slice.screens of its package.json"));
        }
        if self.screens.len() > MAX || self.menu.len() > MAX {
            return Err(bad(format!("It brings more than {MAX} screens or menu entries")));
        }
        let mut paths = BTreeSet::new();
        for Screen { path, title, .. } in &self.screens {
            if !is_path(path) {
                let path = quoted(path);
                return Err(bad(format!("The path {path} of a screen is not one such as /loans/:id")));
            }
            check_text("title", title, 100)?;
            if !paths.insert(pattern(path)) {
                return Err(bad(format!("It brings two screens at {path}")));
            }
            let first = path.split('/').nth(1).unwrap_or_default();
            if RESERVED.contains(&first) {
                return Err(taken(path, name, "the server"));
            }
        }
        let mut labels = BTreeSet::new();
        for entry in &self.menu {
            self.check_entry(entry, shell)?;
            if !labels.insert(folded(&entry.label)) {
                return Err(bad(format!("It brings two menu entries {:?}", entry.label)));
            }
        }
        for sentence in [&self.failures.load, &self.failures.crash].into_iter().flatten() {
            check_text("sentence of a failure", sentence, 300)?;
        }
        Ok(())
    }

    fn check_entry(&self, entry: &MenuEntry, shell: &Shell) -> Result<(), Failure> {
        let MenuEntry { label, to, icon, position, roles, below } = entry;
        check_text("label", label, 40)?;
        let is_twice = |role: &Role| roles.iter().filter(|other| *other == role).count() > 1;
        let wrong = if self.screens.iter().all(|screen| screen.path != *to) {
            format!("leads to {}, which is no screen of it", quoted(to))
        } else if !shell.icons.is_empty() && !shell.icons.contains(icon) {
            format!("has the icon {}, which mfe-kit {} does not have", quoted(icon), shell.kit)
        } else if *position > 1000 {
            format!("has the position {position}; the largest is 1000")
        } else if roles.is_empty() {
            "names no role, so nobody would see it".to_owned()
        } else if roles.iter().any(is_twice) {
            "names a role twice".to_owned()
        } else if let Some(below) = below.as_deref().filter(|below| !is_path_below(below)) {
            format!("has {} below it, which is not a path such as /loans/*", quoted(below))
        } else {
            return Ok(());
        };
        Err(bad(format!("Its menu entry {label:?} {wrong}")))
    }

    /// Checks that what the slice `other` brings stays reachable, and can be told from this.
    pub(super) fn check_other(&self, name: &str, other: &str, brought: &Self) -> Result<(), Failure> {
        for Screen { path, .. } in &self.screens {
            if brought.screens.iter().any(|screen| overlap(path, &screen.path)) {
                return Err(taken(path, name, other));
            }
        }
        for MenuEntry { label, .. } in &self.menu {
            if brought.menu.iter().any(|entry| folded(&entry.label) == folded(label)) {
                let (label, name, owner) = (label.clone(), name.to_owned(), other.to_owned());
                return Err(SliceRefusal::LabelTaken { label, name, owner }.into());
            }
        }
        Ok(())
    }
}

fn taken(path: &str, name: &str, owner: &str) -> Failure {
    SliceRefusal::PathTaken { path: path.to_owned(), name: name.to_owned(), owner: owner.to_owned() }.into()
}

fn check_text(what: &str, text: &str, longest: usize) -> Result<(), Failure> {
    let length = text.chars().count();
    if text.trim().is_empty() || length > longest || !is_plain(text) {
        let text = quoted(text);
        return Err(bad(format!("A {what} must have 1 to {longest} characters that can be seen: {text}")));
    }
    Ok(())
}

/// The pattern of a path, without case and names of parameters. Paths with equal patterns are the same.
fn pattern(path: &str) -> String {
    let parts = path.split('/').map(|part| if part.starts_with(':') { ":" } else { part });
    parts.collect::<Vec<_>>().join("/").to_lowercase()
}

/// Returns whether an address can be of both paths. The more exact one would take it from the other, wherever its
/// slice comes from.
fn overlap(one: &str, other: &str) -> bool {
    let meet = |(a, b): (&str, &str)| a.eq_ignore_ascii_case(b) || a.starts_with(':') || b.starts_with(':');
    let (one, other) = (one.split('/'), other.split('/'));
    one.clone().count() == other.clone().count() && one.zip(other).all(meet)
}

/// A label as people tell it from others: without case and blanks.
fn folded(label: &str) -> String {
    label.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

/// Returns `true` if the portal's router and its page, before any code runs, read the path alike.
fn is_path(path: &str) -> bool {
    let is_part = |part: &str| {
        let name = part.strip_prefix(':').unwrap_or(part);
        !matches!(name, "" | "." | "..")
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte))
    };
    path == "/"
        || path.len() <= 200 && path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(is_part))
}

fn is_path_below(path: &str) -> bool {
    is_path(path.strip_suffix("/*").unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::listed::{assert_same, first_parts};

    #[test]
    fn no_slice_can_take_a_path_of_the_contract() {
        let files = [".well-known", "assets", "kit", "slices"];
        assert_same(
            RESERVED.into_iter().filter(|part| !files.contains(part)),
            &first_parts(),
            "Add the first part of a new path to RESERVED: otherwise a slice can bring a screen there.",
        );
    }

    #[test]
    fn paths_are_compared_without_the_names_of_their_parameters() {
        assert_eq!(pattern("/loans/:id"), pattern("/Loans/:loan"));
        assert_ne!(pattern("/loans/:id"), pattern("/loans/new"));
        assert!(overlap("/loans/:id", "/Loans/new") && overlap("/:any", "/reports") && overlap("/a", "/a"));
        assert!(!overlap("/loans/:id", "/loans") && !overlap("/loans/:id", "/reports/new"));
        for path in ["/", "/pending-loans", "/loans/:id", "/a/b_c/d.e"] {
            assert!(is_path(path), "{path}");
        }
        for path in
            ["", "loans", "//", "/loans/", "/loans/*", "/loans?x", "/loans/:", "/a b", "/ä", "/..", "/a/./b"]
        {
            assert!(!is_path(path), "{path}");
        }
    }
}
