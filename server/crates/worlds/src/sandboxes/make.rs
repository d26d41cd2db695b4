//! Making a sandbox: its data first, then its row. A sandbox without a row does not exist.

use std::time::Duration;

use futures::FutureExt;

use super::{Kept, Name, OfLink, Record, SandboxRefusal, Sandboxes, records, templates::Content};
use base::{
    clock::{Setting, UnixMillis},
    error::Failure,
};
use lending::{
    demo::{Beginning, DemoData, FIRST_SEED, Recording},
    events::{Entry, EventKind, Trail},
};
use settings::Screens;
use store::Connection;

/// Maximum number of further attempts to make up a name that is not taken.
const TRIES: usize = 5;

/// The options of a new sandbox.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// Its name; made up if `None`.
    pub name: Option<Name>,
    /// Its data; `None` for the default.
    pub world: Option<DemoData>,
    /// Loans and payouts to add.
    pub recording: Option<Recording>,
    /// The time at which its clock starts; `None` for the machine's time.
    pub now: Option<UnixMillis>,
    pub is_frozen: bool,
    /// Its screens; `None` for those of the deployment.
    pub screens: Option<Screens>,
    /// The time without use after which it expires.
    pub expires_in: Duration,
    /// The link that makes it, and when it goes; `None` if no link makes it.
    pub of_link: Option<OfLink>,
}

#[derive(Clone, Debug)]
pub struct Made {
    pub record: Record,
    /// The token that opens its console, which is stored nowhere.
    pub token: String,
}

impl Sandboxes {
    /// Makes a sandbox. If it fails, nothing is made.
    pub async fn make(&self, wish: Wish, trail: &Trail) -> Result<Made, Failure> {
        if wish.name.as_ref().is_some_and(Name::is_main) {
            return Err(SandboxRefusal::SandboxExists(Name::main().to_string()).into());
        }
        let mut tries = 0;
        loop {
            let name = wish.name.clone().unwrap_or_else(|| Name::make_up(&self.randomness));
            // Boxed, because the future is large and rarely used.
            match self.make_named(&wish, name, trail).boxed().await {
                Err(failure)
                    if matches!(failure.refusal(), Some(SandboxRefusal::SandboxExists(_)))
                        && wish.name.is_none()
                        && tries < TRIES =>
                {
                    tries += 1;
                }
                made => return made,
            }
        }
    }

    async fn make_named(&self, wish: &Wish, name: Name, trail: &Trail) -> Result<Made, Failure> {
        let now = self.clock.unset_now();
        self.check(&name).await?;
        let id: String = self.randomness.id(now);
        let usual = match wish.recording {
            _ if !self.is_demo => DemoData::Nothing,
            Some(_) => DemoData::Empty,
            None => DemoData::Seeded(FIRST_SEED),
        };
        let content = Content { world: wish.world.unwrap_or(usual), now: wish.now };
        let (template, base) =
            self.templates.get(&self.databases, &self.randomness.id::<String>(now), content, now).await?;
        let setting = Setting::at(wish.now, wish.is_frozen, now);
        self.databases.create(&id, &template, setting).await?;
        if let Some(recording) = wish.recording.clone()
            && let Err(failure) = self.add_recording(&id, recording, wish.now.unwrap_or(now)).await
        {
            self.databases.delete(&id).await?;
            return Err(failure);
        }
        let token = hex::encode(self.randomness.bytes::<32>());
        let (link_id, ends_at) = wish.of_link.clone().map(|of| (of.link_id, of.ends_at)).unzip();
        let record = Record {
            id,
            name,
            token: self.fingerprints.of(&token_parts(&token)),
            created_at: now,
            last_used_at: now,
            expires_in_ms: i64::try_from(wish.expires_in.as_millis()).unwrap_or(i64::MAX),
            calls: 0,
            due_at: None,
            live_screens: wish.screens.map(|screens| screens == Screens::Live),
            link_id,
            ends_at,
            kept: false,
        };
        if let Err(failure) = self.enter(record.clone(), trail).await {
            // If the commit may have succeeded, the scheduler deletes the data when there is no row.
            if !matches!(failure, Failure::NotCommitted) {
                self.databases.delete(&record.id).await?;
            }
            return Err(failure);
        }
        if wish.recording.is_none() {
            let beginning = Beginning { world: content.world, now: base, is_frozen: wish.is_frozen };
            self.meet(record.clone()).keep(Kept::of_new(&record.name, beginning));
        }
        tracing::info!(sandbox = record.name.as_str(), "sandbox.made");
        Ok(Made { record, token })
    }

    async fn add_recording(&self, id: &str, recording: Recording, now: UnixMillis) -> Result<(), Failure> {
        let hash = self.templates.unknown_hash(&self.randomness).await?;
        let database = self.databases.open(id).await?;
        let added = recording.add(&database, &hash, now).await;
        database.close().await;
        added.map(|_| ())
    }

    /// Fails early if the name is taken or the limit is reached.
    async fn check(&self, name: &Name) -> Result<(), Failure> {
        let mut reader = self.database.read().await?;
        if records::find(&mut reader, name).await?.is_some() {
            return Err(SandboxRefusal::SandboxExists(name.to_string()).into());
        }
        records::check_room(&mut reader, self.limit).await
    }

    async fn enter(&self, record: Record, trail: &Trail) -> Result<(), Failure> {
        let limit = self.limit;
        let enter = async |connection: &mut Connection| records::insert(connection, &record, limit).await;
        let entry = Entry::of(EventKind::SandboxMade).about(record.name.as_str());
        trail.write(self.database.begin().await?, [entry], enter).await
    }
}

/// The parts that the fingerprint of a sandbox's token is made of.
pub fn token_parts(token: &str) -> [&str; 2] {
    ["sandbox token", token]
}
