//! The rule by which a build is taken back automatically, and the pages that it counts.

use semver::Version;

use crate::{
    build::SliceName,
    builds::{Bundled, SliceBuilds, set_live, set_previous},
    crashes,
    refusal::SliceRefusal,
    rollout,
    trail::{self, Mark, SliceAction},
    watched::{self, Watch},
};
use base::{clock::UnixMillis, error::Failure, ids::StaffId};
use store::{Connection, query, query_as};

/// The number of signed-in people who must have seen a build fail. A plan waits until as many have seen it.
pub(super) const PEOPLE: i64 = 5;

/// The percentage of their pages above which a build fails too often.
const PERCENT: i64 = 20;

/// The rule in words, for the console.
pub fn rule() -> String {
    format!(
        "A build is taken back by itself when at least {PEOPLE} signed-in people have seen it fail, it fails in \
         over {PERCENT}% of their pages, and in at least twice the share of the build before."
    )
}

/// A page that a signed-in person has opened: one for each person, build and screen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Page {
    pub name: String,
    pub version: String,
    pub staff_id: StaffId,
    /// The pattern of the screen's path; empty for a build that was loaded ahead of its screens.
    pub screen: String,
}

const NOTE: &str = "
    INSERT INTO slice_page (name, version, staff_id, screen, seen_at, failed_at) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (name, version, staff_id, screen) DO UPDATE SET
        seen_at = excluded.seen_at, failed_at = COALESCE(excluded.failed_at, slice_page.failed_at)";

/// Stores that a page was opened at `at`, and that the build failed there if it `has_failed`.
pub(super) async fn note(
    connection: &mut Connection,
    page: &Page,
    has_failed: bool,
    at: UnixMillis,
) -> Result<(), Failure> {
    let Page { name, version, staff_id, screen } = page;
    let note = query(NOTE).bind_all((name, version, staff_id, screen, at, has_failed.then_some(at)));
    Ok(note.run(connection).await?)
}

/// The number of pages that people have opened with a build.
#[derive(Clone, Copy, Debug, Default, sqlx_macros::FromRow)]
struct Opened {
    pages: i64,
    failed: i64,
    /// The number of people who have seen the build fail.
    people: i64,
}

/// The pages of a watched build, and of the build that it is compared with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    new: Opened,
    before: Opened,
}

const PAGES: &str = "
    SELECT count(*) AS pages,
           count(CASE WHEN failed_at >= $3 THEN 1 END) AS failed,
           count(DISTINCT CASE WHEN failed_at >= $3 THEN staff_id END) AS people
    FROM slice_page WHERE name = $1 AND version = $2 AND seen_at >= $3";

impl Seen {
    pub async fn of(connection: &mut Connection, watch: &Watch) -> Result<Self, Failure> {
        let pages = |version: &str, since| query_as(PAGES).bind(&watch.name).bind(version).bind(since);
        let new = pages(&watch.version, watch.began_at).fetch_one(&mut *connection).await?;
        let before = match &watch.against {
            Some(against) => pages(against, watch.before()).fetch_one(connection).await?,
            None => Opened::default(),
        };
        Ok(Self { new, before })
    }

    /// Returns `true` if the build fails in too many pages, however few people have seen it.
    pub fn fails(&self) -> bool {
        let Self { new, before } = self;
        new.failed * 100 > new.pages * PERCENT && new.failed * before.pages >= 2 * before.failed * new.pages
    }

    /// Returns `true` if the build is to be taken back.
    pub fn is_to_be_taken_back(&self) -> bool {
        self.new.people >= PEOPLE && self.fails()
    }

    /// The reason for taking the build back, as a sentence.
    pub async fn sentence(&self, connection: &mut Connection, watch: &Watch) -> Result<String, Failure> {
        let Self { new: Opened { pages, failed, people }, before } = self;
        let before = if before.pages == 0 {
            "none before".to_owned()
        } else {
            format!("{} of {} before", before.failed, before.pages)
        };
        let crash = crashes::most_frequent(connection, &watch.name, &watch.version, watch.began_at).await?;
        let most_often = crash.map(|(error, place)| format!("; most often {error} at {place}"));
        let most_often = most_often.unwrap_or_default();
        Ok(format!("{people} people saw it fail, in {failed} of {pages} pages, {before}{most_often}"))
    }
}

/// Takes the watched build back, with `why` in the trail. If the build before can't go live, the trail says so, and the
/// watch ends all the same: people must act. Returns what was done, with the note; nothing if no browser got the build
/// any more.
pub(super) async fn take_back(
    connection: &mut Connection,
    bundled: &Bundled,
    name: &SliceName,
    slice: &SliceBuilds,
    watch: &Watch,
    why: &str,
    mark: Mark,
) -> Result<Option<(SliceAction, String)>, Failure> {
    let (act, note, live) = (SliceAction::RolledBack, format!("rolled back: {why}"), slice.live.as_ref());
    watched::end(connection, name).await?;
    let rollout = slice.rollout.as_ref().filter(|rollout| watch.is_of(&rollout.version));
    let version = if let Some(rollout) = rollout {
        rollout::delete(connection, name).await?;
        rollout.version.clone()
    } else if live.is_some_and(|live| watch.is_of(live)) {
        match go_back(connection, bundled, name, slice, watch).await {
            Ok(before) => before,
            Err(Failure::Refused(refusal)) => {
                let against = watch.against.as_deref().unwrap_or("the build before");
                let note = format!(
                    "not rolled back, because {against} is refused: {refusal} The team of {} must publish a build that \
                     works, or activate another: {why}",
                    name.as_str()
                );
                let act = SliceAction::NotRolledBack;
                trail::add(connection, mark, act, name, live, None, Some(note.clone())).await?;
                return Ok(Some((act, note)));
            }
            Err(failure) => return Err(failure),
        }
    } else {
        return Ok(None);
    };
    trail::add(connection, mark, act, name, Some(&version), live, Some(note.clone())).await?;
    set_previous(connection, bundled, name).await?;
    Ok(Some((act, note)))
}

/// Makes the build live that the watched one is compared with, and returns its version.
async fn go_back(
    connection: &mut Connection,
    bundled: &Bundled,
    name: &SliceName,
    slice: &SliceBuilds,
    watch: &Watch,
) -> Result<Version, Failure> {
    let before = slice.builds.iter().find(|build| Some(build.version.to_string()) == watch.against);
    let before = before.ok_or(SliceRefusal::NoPreviousBuild)?;
    before.check_fits(name, false, connection, bundled).await?;
    set_live(connection, name, Some(&before.version)).await?;
    Ok(before.version.clone())
}
