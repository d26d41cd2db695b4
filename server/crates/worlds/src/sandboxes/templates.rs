//! The data that new sandboxes start with, made once and then copied.

use std::time::Duration;

use futures::FutureExt;
use tokio::sync::{Mutex, OnceCell};

use base::{clock::UnixMillis, error::Failure, randomness::Randomness};
use lending::{
    auth::password::Passwords,
    demo::{self, DemoData, Hashes},
};
use store::{
    Connection,
    sandboxes::{SandboxDatabases, Template},
};

/// Maximum number of templates that are kept, of about 400 KB each.
const MAX_KEPT: usize = 8;

/// Maximum age of a template whose dates are relative to the time at which it was made.
const FRESH: Duration = Duration::from_mins(5);

/// The latest templates.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    pub world: DemoData,
    /// The time that its dates are relative to; `None` for about now.
    pub now: Option<UnixMillis>,
}

impl Templates {
    pub fn new(passwords: Passwords) -> Self {
        Self { passwords, hashes: OnceCell::new(), kept: Mutex::default() }
    }

    /// The hash of a password that nobody knows.
    pub async fn unknown_hash(&self, randomness: &Randomness) -> Result<String, Failure> {
        self.passwords.hash(hex::encode(randomness.bytes::<32>()).into()).await
    }

    /// A template with `content`, and the time that its dates are relative to. `now` is the machine's time;
    /// `id` names a temporary database.
    pub async fn get(
        &self,
        databases: &SandboxDatabases,
        id: &str,
        content: Content,
        now: UnixMillis,
    ) -> Result<(Template, UnixMillis), Failure> {
        // Locked while a template is made, so that the same one is not made twice.
        let mut kept = self.kept.lock().await;
        kept.retain(|kept| kept.content.now.is_some() || now.since(kept.made_at) < FRESH);
        if let Some(found) = kept.iter().find(|kept| kept.content == content) {
            return Ok((found.template.clone(), content.now.unwrap_or(found.made_at)));
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
