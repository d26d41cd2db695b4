//! The check that a build can go live beside the other builds that browsers get.

use crate::{
    brings::{Brings, Shell},
    build::{Build, Library, SliceName, check_libraries},
    builds::{Bundled, SliceBuild, SliceBuilds, live_shell, read_all},
    refusal::SliceRefusal,
};
use base::error::Failure;
use store::Connection;

/// A build that is about to be given to browsers.
struct Candidate<'a> {
    name: &'a SliceName,
    libraries: &'a [Library],
    brings: &'a Brings,
    as_shell: Option<&'a Shell>,
    is_forced: bool,
}

impl SliceBuild {
    /// Checks that browsers can be given this build of the slice `name`. If it `is_forced`, a shell is accepted that
    /// can't load what is live.
    pub(super) async fn check_fits(
        &self,
        name: &SliceName,
        is_forced: bool,
        connection: &mut Connection,
        bundled: &Bundled,
    ) -> Result<(), Failure> {
        let libraries = self.libraries(name.as_str(), connection, bundled).await?;
        let (brings, as_shell) = (&self.brings, self.as_shell.as_ref());
        let candidate = Candidate { name, libraries: &libraries, brings, as_shell, is_forced };
        candidate.check(connection, bundled).await
    }
}

impl Build {
    /// Checks that browsers can be given this build. If it `is_forced`, a shell is accepted that can't load what is
    /// live.
    pub(super) async fn check_fits(
        &self,
        is_forced: bool,
        connection: &mut Connection,
        bundled: &Bundled,
    ) -> Result<(), Failure> {
        let Self { name, libraries, brings, as_shell, .. } = self;
        let candidate = Candidate { name, libraries, brings, as_shell: as_shell.as_ref(), is_forced };
        candidate.check(connection, bundled).await
    }
}

impl Candidate<'_> {
    /// Checks that the live shell can load the build, and that no other slice, nor the shell, has one of its paths or
    /// menu entries. For a build of the shell, it checks that it can load all that the live shell can.
    async fn check(&self, connection: &mut Connection, bundled: &Bundled) -> Result<(), Failure> {
        let slices = read_all(connection, bundled).await?;
        let live = live_shell(&slices);
        let others = slices.iter().filter(|other| other.name != self.name.as_str());
        let others: Vec<(&str, &SliceBuild)> = others.flat_map(served).collect();
        match self.as_shell {
            None => check_libraries(self.libraries, live.ok_or(SliceRefusal::NoPortal)?)?,
            Some(new) if !self.is_forced => {
                for (name, build) in &others {
                    let libraries = build.libraries(name, connection, bundled).await?;
                    if live.is_some_and(|live| check_libraries(&libraries, live).is_ok()) {
                        let fits = check_libraries(&libraries, new);
                        fits.map_err(|misfit| needed(name, build, new, misfit))?;
                    }
                }
            }
            Some(_) => {}
        }
        for (name, build) in others {
            self.brings.check_other(self.name.as_str(), name, &build.brings)?;
        }
        Ok(())
    }
}

/// The builds of a slice that browsers may get, with its name.
fn served(slice: &SliceBuilds) -> impl Iterator<Item = (&str, &SliceBuild)> {
    slice.served().filter_map(|version| Some((slice.name.as_str(), slice.build(version)?)))
}

/// The refusal of the shell `new`, which is a `misfit` for a build that is live.
fn needed(name: &str, build: &SliceBuild, new: &Shell, misfit: Failure) -> Failure {
    let Some(SliceRefusal::WrongShell { library, range, carried }) = misfit.refusal() else { return misfit };
    SliceRefusal::ShellNeeded {
        name: name.to_owned(),
        version: build.version.to_string(),
        library: library.clone(),
        range: range.clone(),
        shell: new.version.to_string(),
        carried: carried.clone(),
    }
    .into()
}
