//! The check that a build can go live beside the other builds that browsers get.

use crate::{
    brings::{Brings, Shell},
    build::{SliceName, check_shell},
    builds::{Bundled, SliceBuild, SliceBuilds, live_shell, read_all},
    refusal::SliceRefusal,
};
use base::error::Failure;
use store::Connection;

/// A build that is about to be given to browsers.
pub(super) struct Candidate<'a> {
    name: &'a SliceName,
    range: &'a str,
    brings: &'a Brings,
    as_shell: Option<&'a Shell>,
    is_forced: bool,
}

impl SliceBuild {
    /// This build, as a candidate of the slice `name`.
    pub(super) fn candidate<'a>(&'a self, name: &'a SliceName) -> Candidate<'a> {
        let (range, brings, as_shell) = (self.shell.as_str(), &self.brings, self.as_shell.as_ref());
        Candidate { name, range, brings, as_shell, is_forced: false }
    }
}

impl crate::Build {
    /// This build, as a candidate. If it `is_forced`, a shell is accepted that can't load what is live.
    pub(super) fn candidate(&self, is_forced: bool) -> Candidate<'_> {
        let Self { name, shell: range, brings, as_shell, .. } = self;
        Candidate { name, range, brings, as_shell: as_shell.as_ref(), is_forced }
    }
}

impl Candidate<'_> {
    /// Checks that the live shell can load the build, and that no other slice, nor the shell, has one of its paths or
    /// menu entries. For a build of the shell, it checks that it can load all that the live shell can.
    ///
    /// # Errors
    /// [`SliceRefusal::NoPortal`], [`SliceRefusal::WrongShell`], [`SliceRefusal::PathTaken`],
    /// [`SliceRefusal::LabelTaken`], [`SliceRefusal::ShellNeeded`].
    pub async fn check(&self, connection: &mut Connection, bundled: &Bundled) -> Result<(), Failure> {
        let slices = read_all(connection, bundled).await?;
        let live = live_shell(&slices);
        let others = || slices.iter().filter(|other| other.name != self.name.as_str()).flat_map(served);
        match self.as_shell {
            None => check_shell(self.range, live.ok_or(SliceRefusal::NoPortal)?)?,
            Some(new) if !self.is_forced => {
                let is_loaded = |build: &SliceBuild, shell| check_shell(&build.shell, shell).is_ok();
                let lost = others().find(|(_, build)| {
                    live.is_some_and(|live| is_loaded(build, live)) && !is_loaded(build, new)
                });
                if let Some((name, build)) = lost {
                    return Err(needed(name, build, new));
                }
            }
            Some(_) => {}
        }
        for (name, build) in others() {
            self.brings.check_other(self.name.as_str(), name, &build.brings)?;
        }
        Ok(())
    }
}

/// The builds of a slice that browsers may get, with its name.
fn served(slice: &SliceBuilds) -> impl Iterator<Item = (&str, &SliceBuild)> {
    slice.served().filter_map(|version| Some((slice.name.as_str(), slice.build(version)?)))
}

fn needed(name: &str, build: &SliceBuild, new: &Shell) -> Failure {
    SliceRefusal::ShellNeeded {
        name: name.to_owned(),
        version: build.version.to_string(),
        range: build.shell.clone(),
        shell: new.version.to_string(),
        kit: new.kit.to_string(),
    }
    .into()
}
