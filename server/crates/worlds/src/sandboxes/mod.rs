//! Many isolated instances in one server: each has data, clock, randomness, mobile money, outbox, faults,
//! limits, sessions, traffic and live slices of its own.
//!
//! `main` always exists, and its store has a row for each of the others. They are opened when they are
//! called, and closed when nobody uses them.

mod address;
mod console_token;
mod known;
mod make;
mod name;
mod not_found;
pub mod open_files;
mod put_off;
mod records;
mod refusal;
mod registry;
mod remove;
mod sandbox;
mod scheduler;
mod server;
pub mod sync;
mod templates;
mod undo_tools;

pub use refusal::SandboxRefusal;

use std::{
    collections::HashMap,
    sync::{Arc, atomic::AtomicI64},
    time::Duration,
};

use parking_lot::Mutex;

pub use self::{
    address::{Addresses, HEADER},
    console_token::{Access, ConsoleToken},
    make::{Made, Wish, token_parts},
    name::Name,
    not_found::{hide_when_off, page as not_found_page},
    records::{OfLink, Record},
    registry::{InUse, Listed},
    sandbox::{Kept, Sandbox, SandboxState},
    scheduler::{keep, tend},
    server::Server,
};
use self::{known::Known, templates::Templates};
use base::{clock::Clock, randomness::Randomness};
use lending::auth::{fingerprint::Fingerprints, password::Passwords};
use settings::Settings;
use store::{Database, sandboxes::SandboxDatabases};

/// The time without use after which a sandbox is closed.
pub const IDLE_TIMEOUT: Duration = Duration::from_mins(5);

/// Default time without use after which a sandbox expires.
pub const EXPIRES_IN: Duration = Duration::from_hours(24);

/// Minimum time without use after which a sandbox expires.
pub const SHORTEST_EXPIRY: Duration = Duration::from_secs(5);

/// Maximum time without use after which a sandbox expires.
pub const LONGEST_EXPIRY: Duration = Duration::from_hours(24 * 365);

/// The sandboxes of a deployment besides `main`.
pub struct Sandboxes {
    /// The maximum number of sandboxes; 0 if they are off.
    pub limit: u32,
    is_demo: bool,
    pub addresses: Addresses,
    /// The store of `main`.
    database: Database,
    databases: SandboxDatabases,
    fingerprints: Fingerprints,
    /// The machine's clock.
    clock: Clock,
    randomness: Randomness,
    templates: Templates,
    known: Mutex<HashMap<Name, Arc<Known>>>,
    main_calls: AtomicI64,
    main_last_used_at: AtomicI64,
}

impl Sandboxes {
    /// The sandboxes that `settings` allow besides `main`. `database` is the store of `main`, and `clock` the
    /// machine's clock.
    pub fn new(
        settings: &Settings,
        database: Database,
        fingerprints: Fingerprints,
        passwords: Passwords,
        clock: Clock,
        randomness: Randomness,
    ) -> Self {
        Self {
            limit: settings.max_sandboxes(),
            is_demo: settings.demo,
            addresses: Addresses::of(settings),
            databases: SandboxDatabases::in_folder(settings.store.data_dir.join("sandboxes")),
            database,
            fingerprints,
            clock,
            randomness,
            templates: Templates::new(passwords),
            known: Mutex::default(),
            main_calls: AtomicI64::default(),
            main_last_used_at: AtomicI64::default(),
        }
    }

    pub fn are_on(&self) -> bool {
        self.limit > 0
    }
}
