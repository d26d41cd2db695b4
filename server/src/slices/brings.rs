//! What a build brings: its screens, its menu entries, and what to say when it fails. The shell draws
//! routes and menu from it before it loads any code of the slice.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Shell;
use crate::{auth::Role, error::Failure};

/// First parts of paths that this server answers itself, or that are files of the portal.
const RESERVED: [&str; 13] = [
    ".well-known",
    "api",
    "assets",
    "console",
    "deploy",
    "docs",
    "healthz",
    "kit",
    "metrics",
    "readyz",
    "slice-reports",
    "slices",
    "slices.json",
];

/// Maximum number of screens, and of menu entries, of a slice.
const MAX: usize = 100;

/// What a slice brings, as its package says it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Brings {
    /// Its screens.
    pub screens: Vec<Screen>,
    /// Its entries in the menu.
    pub menu: Vec<MenuEntry>,
    /// What the portal says in place of a screen.
    pub failures: SliceFailures,
}

/// A screen.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Screen {
    /// Its path in the portal; a part `:id` stands for any.
    pub path: String,
    /// The title of the browser's tab while it is loaded.
    pub title: String,
    /// Whether visitors who are not signed in may open it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub public: bool,
}

/// An entry of the menu.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MenuEntry {
    /// Its text.
    pub label: String,
    /// The path of the screen that it opens.
    pub to: String,
    /// The name of an icon of mfe-kit.
    pub icon: String,
    /// Entries are sorted by it.
    pub position: u16,
    /// Who sees it.
    pub roles: Vec<Role>,
    /// Paths of the pages below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<String>,
}

/// What the portal says in place of a screen; it has general sentences where one is missing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SliceFailures {
    /// When no build of the slice could be loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<String>,
    /// When a screen has stopped working.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crash: Option<String>,
}

impl Brings {
    /// Checks that `shell` can draw what slice `name` brings.
    ///
    /// # Errors
    /// [`Failure::BadBuild`] with a sentence that says what is wrong, [`Failure::PathTaken`].
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
                return Err(bad(format!("The path {path:?} of a screen is not one such as /loans/:id")));
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
        if let Some(path) = self.path_of(&shell.screens) {
            return Err(taken(path, name, "mfe-shell"));
        }
        for entry in &self.menu {
            self.check_entry(entry, shell)?;
        }
        for sentence in [&self.failures.load, &self.failures.crash].into_iter().flatten() {
            check_text("sentence of a failure", sentence, 300)?;
        }
        Ok(())
    }

    fn check_entry(&self, entry: &MenuEntry, shell: &Shell) -> Result<(), Failure> {
        let MenuEntry { label, to, icon, position, roles, below } = entry;
        check_text("label", label, 40)?;
        if self.screens.iter().all(|screen| screen.path != *to) {
            return Err(bad(format!("Its menu entry {label:?} leads to {to:?}, which is no screen of it")));
        }
        if !shell.icons.is_empty() && !shell.icons.contains(icon) {
            return Err(bad(format!(
                "Its menu entry {label:?} has the icon {icon:?}, which mfe-kit {} does not have",
                shell.kit
            )));
        }
        if *position > 1000 {
            return Err(bad(format!(
                "Its menu entry {label:?} has the position {position}; the largest is 1000"
            )));
        }
        if roles.is_empty() {
            return Err(bad(format!("Its menu entry {label:?} names no role, so nobody would see it")));
        }
        match below {
            Some(below) if !is_path(below.trim_end_matches("/*")) => Err(bad(format!(
                "Its menu entry {label:?} has {below:?} below it, which is not a path such as /loans/*"
            ))),
            _ => Ok(()),
        }
    }

    /// Checks that `other`, another slice, brings none of these screens.
    ///
    /// # Errors
    /// [`Failure::PathTaken`].
    pub(super) fn check_other(&self, name: &str, other: &str, brought: &Self) -> Result<(), Failure> {
        self.path_of(&brought.screens).map_or(Ok(()), |path| Err(taken(path, name, other)))
    }

    /// The first path that is among `screens`, too.
    fn path_of(&self, screens: &[Screen]) -> Option<&str> {
        let others: BTreeSet<String> = screens.iter().map(|screen| pattern(&screen.path)).collect();
        self.screens.iter().map(|screen| screen.path.as_str()).find(|path| others.contains(&pattern(path)))
    }
}

fn bad(text: impl Into<String>) -> Failure {
    Failure::BadBuild(text.into())
}

fn taken(path: &str, name: &str, owner: &str) -> Failure {
    Failure::PathTaken { path: path.to_owned(), name: name.to_owned(), owner: owner.to_owned() }
}

fn check_text(what: &str, text: &str, longest: usize) -> Result<(), Failure> {
    let length = text.chars().count();
    if text.trim().is_empty() || length > longest || text.chars().any(char::is_control) {
        return Err(bad(format!("A {what} must have 1 to {longest} characters: {text:?}")));
    }
    Ok(())
}

/// Two paths with the same pattern are for the same addresses: names of parameters do not count.
fn pattern(path: &str) -> String {
    let parts = path.split('/').map(|part| if part.starts_with(':') { ":" } else { part });
    parts.collect::<Vec<_>>().join("/").to_lowercase()
}

/// Whether the portal's router, and the page before any code, read a path in the same way.
fn is_path(path: &str) -> bool {
    let is_part = |part: &str| {
        let name = part.strip_prefix(':').unwrap_or(part);
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte))
    };
    path == "/"
        || path.len() <= 200 && path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(is_part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::listed::{assert_same, first_parts};

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
        for path in ["/", "/pending-loans", "/loans/:id", "/a/b_c/d.e"] {
            assert!(is_path(path), "{path}");
        }
        for path in ["", "loans", "//", "/loans/", "/loans/*", "/loans?x", "/loans/:", "/a b", "/ä"] {
            assert!(!is_path(path), "{path}");
        }
    }
}
