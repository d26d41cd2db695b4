//! The check that a build can go live beside the other builds that browsers get.

use crate::{
    brings::Shell,
    build::{SliceName, check_libraries},
    builds::{Bundled, SliceBuild, SliceBuilds, live_shell, read_all},
    refusal::SliceRefusal,
};
use base::error::Failure;
use store::Connection;

impl SliceBuild {
    /// Checks that this build of the slice `name` can be given to browsers: that the live shell can load it, and that no
    /// other slice, nor the shell, has one of its paths or menu entries. For a build of the shell, it checks that it can
    /// load all that the live shell can, unless it `is_forced`.
    pub(super) async fn check_fits(
        &self,
        name: &SliceName,
        is_forced: bool,
        connection: &mut Connection,
        bundled: &Bundled,
    ) -> Result<(), Failure> {
        let slices = read_all(connection, bundled).await?;
        let live = live_shell(&slices);
        let others = slices.iter().filter(|other| other.name != name.as_str());
        let others: Vec<(&str, &SliceBuild)> = others.flat_map(served).collect();
        match &self.as_shell {
            None => {
                let libraries = self.libraries(name.as_str(), connection, bundled).await?;
                check_libraries(&libraries, live.ok_or(SliceRefusal::NoPortal)?)?;
            }
            Some(new) if !is_forced => {
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
        for (other, build) in others {
            self.brings.check_other(name.as_str(), other, &build.brings)?;
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
