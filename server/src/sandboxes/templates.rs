//! The data that new sandboxes start with, made once and then copied.

use std::time::Duration;

use futures::FutureExt;
use tokio::sync::{Mutex, OnceCell};

use crate::{
    auth::password::Passwords,
    clock::UnixMillis,
    database::{
        Connection,
        sandboxes::{SandboxDatabases, Template},
    },
    demo::{self, Hashes, World},
    error::Failure,
    randomness::Randomness,
};

/// How many are kept, of about 400 KB each.
const MAX_KEPT: usize = 8;

/// How long a template is copied whose dates are relative to the time at which it was made.
const FRESH: Duration = Duration::from_mins(5);

/// How long any other template is kept.
const KEPT_FOR: Duration = Duration::from_hours(12);

/// The templates that were used last.
#[derive(Debug)]
pub struct Templates {
    passwords: Passwords,
    /// The demo accounts have one password, so they can have one set of hashes.
    hashes: OnceCell<Hashes>,
    kept: Mutex<Vec<Kept>>,
}

#[derive(Debug)]
struct Kept {
    content: Content,
    made_at: UnixMillis,
    template: Template,
}

/// What a template contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// The data.
    pub world: World,
    /// What its dates are relative to; `None` for about now.
    pub now: Option<UnixMillis>,
}

impl Templates {
    /// No templates yet.
    pub fn new(passwords: Passwords) -> Self {
        Self { passwords, hashes: OnceCell::new(), kept: Mutex::default() }
    }

    /// The hash of a password that nobody knows.
    ///
    /// # Errors
    /// When it can't be made.
    pub async fn unknown_hash(&self, randomness: &Randomness) -> Result<String, Failure> {
        self.passwords.hash(hex::encode(randomness.bytes::<32>()).into()).await
    }

    /// A template with `content`, at the machine's time `now`, and the time that its dates are relative to. `id`
    /// names a database that is not used otherwise.
    ///
    /// # Errors
    /// When it can't be made.
    pub async fn get(
        &self,
        databases: &SandboxDatabases,
        id: &str,
        content: Content,
        now: UnixMillis,
    ) -> Result<(Template, UnixMillis), Failure> {
        // One is made at a time, so that the same one is not made twice.
        let mut kept = self.kept.lock().await;
        let is_old = |kept: &Kept| {
            let longest = if kept.content.now.is_some() { KEPT_FOR } else { FRESH };
            now.since(kept.made_at) >= longest
        };
        kept.retain(|kept| !is_old(kept));
        if let Some(at) = kept.iter().position(|kept| kept.content == content) {
            // The latest used one is the last.
            let found = kept.remove(at);
            let (template, base) = (found.template.clone(), content.now.unwrap_or(found.made_at));
            kept.push(found);
            return Ok((template, base));
        }
        let hashes = self.hashes.get_or_try_init(|| demo::hash_passwords(&self.passwords)).await?.clone();
        let (world, base) = (content.world, content.now.unwrap_or(now));
        let fill = async |connection: &mut Connection| demo::fill(connection, world, base, hashes).await;
        let template = databases.template(id, fill).boxed().await?;
        if kept.len() == MAX_KEPT {
            kept.remove(0);
        }
        kept.push(Kept { content, made_at: now, template: template.clone() });
        Ok((template, base))
    }
}
