//! Links: addresses at which guests get a sandbox of their own that tells a story.

use std::time::Duration;

use serde::{Deserialize, Serialize, Serializer};

use crate::refusal::ConsoleRefusal;
use base::{
    clock::{UnixMillis, duration},
    error::Failure,
    ids::LinkId,
};
use lending::{
    auth::Role,
    events::{Entry, EventKind, Trail},
};
use store::{Connection, query, query_as, query_scalar};
use worlds::sandboxes::{Name, Record, Server};

/// The most links that work at one time.
pub const MAX_LINKS: i64 = 200;
const MAX_WORLDS: u32 = 1000;
const MINUTE: Duration = Duration::from_mins(1);
/// The longest time that a sandbox of a link is there, if nobody puts its end off.
const LONGEST_LIFE: Duration = Duration::from_hours(24 * 7);
const LONGEST_WORK: Duration = Duration::from_hours(24 * 365);

#[derive(Clone, Debug, Serialize, sqlx_macros::FromRow)]
pub struct Link {
    #[sqlx(rename = "link_id")]
    pub id: LinkId,
    pub story: String,
    #[serde(serialize_with = "as_list")]
    roles: String,
    pub worlds: i64,
    pub made: i64,
    pub lives_for_ms: i64,
    pub works_until: UnixMillis,
    pub created_at: UnixMillis,
    pub revoked_at: Option<UnixMillis>,
}

/// Why a link makes no sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    Revoked,
    Over,
    UsedUp,
}

/// A link, and why it makes no sandbox; `None` if it does.
#[derive(Debug, Serialize)]
pub struct Listed {
    #[serde(flatten)]
    link: Link,
    ended: Option<Ended>,
}

impl Link {
    pub fn listed(self, now: UnixMillis) -> Listed {
        Listed { ended: self.ended(now), link: self }
    }

    /// Why it makes no sandbox at `now`; `None` if it does.
    pub fn ended(&self, now: UnixMillis) -> Option<Ended> {
        if self.revoked_at.is_some() {
            Some(Ended::Revoked)
        } else if self.works_until <= now {
            Some(Ended::Over)
        } else {
            (self.made >= self.worlds).then_some(Ended::UsedUp)
        }
    }

    /// The roles: that of who opens it, and those of others who may enter.
    pub fn roles(&self) -> Vec<Role> {
        roles_in(&self.roles)
    }

    pub fn lives_for(&self) -> Duration {
        Duration::from_millis(self.lives_for_ms.unsigned_abs())
    }
}

/// The roles of a link as they are stored: that of who opens it, and those of others who may enter.
pub fn roles_in(stored: &str) -> Vec<Role> {
    stored.split(' ').filter_map(|role| serde_json::from_value(role.into()).ok()).collect()
}

fn as_list<S: Serializer>(stored: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(roles_in(stored))
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewLink {
    pub story: String,
    pub roles: Option<Vec<Role>>,
    pub worlds: Option<u32>,
    pub lives_for: Option<String>,
    pub works_for: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct MadeLink {
    pub id: LinkId,
    /// Its address, which is stored nowhere.
    pub url: String,
}

const COUNT: &str = "
    SELECT count(*) FROM story_link WHERE revoked_at IS NULL AND works_until > $1 AND made < worlds";

const INSERT: &str = "
    INSERT INTO story_link (link_id, token, story, roles, worlds, lives_for_ms, works_until, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

/// Makes a link. The caller has made sure that the story is there.
pub async fn make(server: &Server, new: NewLink, trail: &Trail) -> Result<MadeLink, Failure> {
    let roles = new.roles.unwrap_or_else(|| vec![Role::Agent]);
    let is_twice = |role: &Role| roles.iter().filter(|other| *other == role).count() > 1;
    if roles.is_empty() || roles.iter().any(is_twice) {
        return Err(Failure::bad_field("roles", "roles must have at least one role, and each once"));
    }
    let worlds = new.worlds.unwrap_or(1);
    if !(1..=MAX_WORLDS).contains(&worlds) {
        return Err(Failure::bad_field("worlds", "worlds must be between 1 and 1000"));
    }
    let within = |given: Option<String>, usual: &str, longest: Duration| {
        let given = duration(given.as_deref().unwrap_or(usual)).ok();
        given.filter(|time| (MINUTE..=longest).contains(time))
    };
    let lives_for = within(new.lives_for, "2h", LONGEST_LIFE).ok_or_else(|| {
        let text = "lives_for must be a duration such as 30m or 2h, from 1 minute to 7 days";
        Failure::bad_field("lives_for", text)
    })?;
    let works_for = within(new.works_for, "7d", LONGEST_WORK).ok_or_else(|| {
        let text = "works_for must be a duration such as 12h or 7d, from 1 minute to 365 days";
        Failure::bad_field("works_for", text)
    })?;
    let now = server.clock.unset_now();
    let id: LinkId = server.randomness.id(now);
    let token = hex::encode(server.randomness.bytes::<16>());
    let fingerprint = fingerprint(server, &token);
    let (link_id, story) = (id.clone(), new.story);
    let entry = Entry::of(EventKind::StoryLinkMade).about(&story);
    trail
        .write(server.database.begin().await?, [entry], async move |connection: &mut Connection| {
            let working: i64 = query_scalar(COUNT).bind(now).fetch_one(&mut *connection).await?;
            if working >= MAX_LINKS {
                return Err(ConsoleRefusal::TooManyLinks.into());
            }
            let roles = roles.iter().map(Role::to_string).collect::<Vec<_>>().join(" ");
            let lives_for_ms = i64::try_from(lives_for.as_millis()).unwrap_or(i64::MAX);
            let (worlds, works_until) = (i64::from(worlds), now.plus(works_for));
            Ok(query(INSERT)
                .bind_all((link_id, fingerprint, story, roles, worlds, lives_for_ms, works_until, now))
                .run(connection)
                .await?)
        })
        .await?;
    let portal = server.sandboxes.addresses.portal(&Name::main());
    Ok(MadeLink { id, url: format!("{portal}/open/{token}") })
}

fn fingerprint(server: &Server, token: &str) -> String {
    server.fingerprints().of(&["link to a story", token])
}

const ALL: &str = "
    SELECT link_id, story, roles, worlds, made, lives_for_ms, works_until, created_at, revoked_at FROM story_link
    ORDER BY created_at DESC, link_id DESC LIMIT 500";

/// The links, the newest first.
pub async fn all(server: &Server) -> Result<Vec<Link>, Failure> {
    Ok(query_as(ALL).fetch_all(&mut server.database.read().await?).await?)
}

const FIND: &str = "
    SELECT link_id, story, roles, worlds, made, lives_for_ms, works_until, created_at, revoked_at FROM story_link
    WHERE token = $1";

pub async fn find(server: &Server, token: &str) -> Result<Option<Link>, Failure> {
    let found = query_as(FIND).bind(fingerprint(server, token));
    Ok(found.fetch_optional(&mut server.database.read().await?).await?)
}

const ROLES: &str = "SELECT roles FROM story_link WHERE link_id = $1";

/// The roles of the link that made a sandbox; none if no link did.
pub async fn roles_of(server: &Server, record: &Record) -> Result<Vec<Role>, Failure> {
    let Some(link_id) = &record.link_id else { return Ok(Vec::new()) };
    let mut reader = server.database.read().await?;
    let stored: Option<String> = query_scalar(ROLES).bind(link_id).fetch_optional(&mut reader).await?;
    Ok(stored.as_deref().map(roles_in).unwrap_or_default())
}

const REVOKE: &str = "UPDATE story_link SET revoked_at = $2 WHERE link_id = $1 AND revoked_at IS NULL";

/// Revokes a link. Its sandboxes stay until their time.
pub async fn revoke(server: &Server, id: LinkId, trail: &Trail) -> Result<(), Failure> {
    // PostgreSQL can't store NUL characters.
    if id.contains('\0') {
        return Err(ConsoleRefusal::LinkNotFound.into());
    }
    let now = server.clock.unset_now();
    let entry = Entry::of(EventKind::StoryLinkRevoked).about(id.as_str());
    trail
        .write(server.database.begin().await?, [entry], async move |connection: &mut Connection| {
            let revoked = query(REVOKE).bind(id).bind(now).execute(connection).await?;
            if revoked == 0 { Err(ConsoleRefusal::LinkNotFound.into()) } else { Ok(()) }
        })
        .await
}

const CLAIM: &str = "
    UPDATE story_link SET made = made + 1
    WHERE link_id = $1 AND made < worlds AND revoked_at IS NULL AND works_until > $2";

/// Counts a sandbox that is going to be made. Returns `false` if the link makes no more.
pub async fn claim(server: &Server, link: &Link) -> Result<bool, Failure> {
    let claim = query(CLAIM).bind(&link.id).bind(server.clock.unset_now());
    Ok(server.database.execute(claim).await? == 1)
}

const RELEASE: &str = "UPDATE story_link SET made = made - 1 WHERE link_id = $1";

/// Counts a sandbox out that was not made after all.
pub async fn release(server: &Server, link: &Link) -> Result<(), Failure> {
    server.database.execute(query(RELEASE).bind(&link.id)).await?;
    Ok(())
}
