//! The end of a sandbox that a link has made, which can be put off, and what a guest takes with them.

use std::{path::Path, time::Duration};

use super::{Name, Sandbox, Sandboxes, records};
use base::error::Failure;

impl Sandboxes {
    /// Writes a copy of the data of `sandbox` into the new file `to`.
    /// Fails for `main`, which `mkopo data backup` copies.
    pub async fn copy(&self, sandbox: &Sandbox, to: &Path) -> Result<(), Failure> {
        self.databases.copy(sandbox.id.as_deref().ok_or(Failure::NotFound)?, to).await
    }

    /// Puts the end off until `time` from now, once; does nothing if that can't be done.
    pub async fn put_off_end(&self, name: &Name, time: Duration) -> Result<(), Failure> {
        let known = self.known(name).await?;
        let ends_at = self.clock.unset_now().plus(time);
        if records::put_off_end(&self.database, &known.record.id, ends_at).await? {
            known.keep_until(ends_at);
        }
        Ok(())
    }
}
