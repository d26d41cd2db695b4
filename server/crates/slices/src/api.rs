//! The console's calls about slices, and the list that the portal reads.

use std::{
    fs,
    io::{ErrorKind, Seek, Write},
};

use axum::{
    Json as Answer, Router,
    extract::{FromRequestParts, Request},
    http::{StatusCode, request::Parts},
    routing::{delete, get, post},
};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::{Deserialize, Serialize};

use crate::{
    activate::{self},
    archive::{self, Unpacked},
    brings::Shell,
    build::{Build, SliceName},
    builds::{self, SliceBuilds},
    of_world::Slices,
    publish::{self, Publication},
    refusal::SliceRefusal,
    remove::{self},
    roll_out::{self, Change, RolloutBody, yes},
    rollout::Share,
    shell_build,
    trail::{self, Mark, SliceEvent},
    waiting::Dropped,
};
use base::error::Failure;
use lending::events::Trail;
use web::{
    accept,
    extract::{Json, Path, Query},
};

/// The path under the console's API that builds are uploaded to.
const BUILDS: &str = "/slices";

/// The routes under the console's API.
pub fn routes() -> Router {
    changes::<Operator>(BUILDS).route(BUILDS, get(list).post(publish)).route("/slices/{name}", delete(remove))
}

/// The routes of the calls that change which builds of a slice browsers get, below `builds`.
pub(super) fn changes<A: Author>(builds: &str) -> Router {
    let rollout = |act| move |slices, author, name| change::<A>(act, slices, author, name);
    Router::new()
        .route(&format!("{builds}/{{name}}/activate"), post(activate::<A>))
        .route(&format!("{builds}/{{name}}/rollback"), post(roll_back::<A>))
        .route(&format!("{builds}/{{name}}/rollout"), post(roll_out::<A>))
        .route(&format!("{builds}/{{name}}/hold"), post(rollout(Change::Hold)))
        .route(&format!("{builds}/{{name}}/promote"), post(rollout(Change::Promote)))
        .route(&format!("{builds}/{{name}}/abort"), post(rollout(Change::Abort)))
}

#[derive(Serialize)]
struct Overview {
    shell: Option<Shell>,
    slices: Vec<SliceBuilds>,
    trail: Vec<SliceEvent>,
}

async fn list(slices: Slices) -> Result<Answer<Overview>, Failure> {
    let all = builds::all(&slices).await?;
    let trail = trail::trail(&mut slices.database.read().await?).await?;
    Ok(Answer(Overview { shell: builds::live_shell(&all).cloned(), slices: all, trail }))
}

/// The author of a call that changes a slice.
pub(super) trait Author: FromRequestParts<(), Rejection = Failure> + Send + Sync + 'static {
    /// The slice that the call names, if the author may change it.
    fn slice(&self, slices: &Slices, name: &str) -> impl Future<Output = Result<SliceName, Failure>> + Send;

    fn mark(self, slices: &Slices) -> Result<Mark, Failure>;
}

/// Somebody with the console's token, who states a name, or none: all programs have the same token.
struct Operator {
    trail: Trail,
    by: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ByQuery {
    by: Option<String>,
}

impl FromRequestParts<()> for Operator {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &()) -> Result<Self, Failure> {
        let trail = Trail::from_request_parts(parts, state).await?;
        let Query(ByQuery { by }) = Query::from_request_parts(parts, state).await?;
        Ok(Self { trail, by })
    }
}

impl Author for Operator {
    async fn slice(&self, _: &Slices, name: &str) -> Result<SliceName, Failure> {
        SliceName::from_request(name)
    }

    fn mark(self, slices: &Slices) -> Result<Mark, Failure> {
        let Self { trail, by } = self;
        let trail = by.iter().fold(trail, |trail, by| trail.noting(format!("by: {by}")));
        Mark::now(slices, by, trail)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PublishQuery {
    pub by: Option<String>,
    #[serde(default)]
    hold: bool,
    #[serde(default)]
    force: bool,
    percent: Option<u8>,
    plan: Option<String>,
    #[serde(default = "yes")]
    watch: bool,
}

impl PublishQuery {
    pub fn publication(&self) -> Result<Publication, Failure> {
        let Self { hold, force, percent, watch, .. } = *self;
        let share = Share::from_request(percent, self.plan.as_deref())?;
        if hold && share.is_some() {
            let text = "A build that is held goes to nobody: give no percentage";
            return Err(Failure::BadValue(text.to_owned()));
        }
        Ok(Publication { hold, share, is_watched: watch, force })
    }
}

async fn publish(
    slices: Slices,
    trail: Trail,
    Query(query): Query<PublishQuery>,
    request: Request,
) -> Result<(StatusCode, Answer<SliceBuilds>), Failure> {
    let publication = query.publication()?;
    let mark = Operator { trail, by: query.by }.mark(&slices)?;
    let build = receive(&slices, request).await?;
    publish_received(&slices, build, publication, mark).await
}

/// Publishes a build that was received. The status says whether it is new.
pub(super) async fn publish_received(
    slices: &Slices,
    build: Build,
    publication: Publication,
    mark: Mark,
) -> Result<(StatusCode, Answer<SliceBuilds>), Failure> {
    let (slice, is_new) = publish::publish(slices, build, publication, mark).await?;
    Ok((if is_new { StatusCode::CREATED } else { StatusCode::OK }, Answer(slice)))
}

/// Receives the build in an archive of limited size, and checks that the live shell can load it.
pub(super) async fn receive(slices: &Slices, request: Request) -> Result<Build, Failure> {
    let Ok(_place) = slices.shared.uploads.try_acquire() else {
        return Err(SliceRefusal::TooManyUploads.into());
    };
    if !accept::is_of_type(request.headers(), "application/octet-stream") {
        return Err(SliceRefusal::NoArchive.into());
    }
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::StorageFull => Failure::NoRoom,
        _ => Failure::Internal(format!("an archive can't be stored: {error}")),
    };
    // With a database on PostgreSQL, nothing else may have needed the folder so far.
    let folder = &slices.settings.store.data_dir;
    let archive = fs::create_dir_all(folder).and_then(|()| tempfile::tempfile_in(folder));
    let mut archive = archive.map_err(failed)?;
    let mut body = Limited::new(request.into_body(), archive::MAX_RECEIVED);
    let mut size = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            let too_large = error.is::<LengthLimitError>();
            let broken =
                || SliceRefusal::BadBuild(format!("The archive was not received completely: {error}"));
            if too_large { SliceRefusal::BuildTooLarge } else { broken() }
        })?;
        // Into the cache of the operating system: too short to give the thread away for.
        if let Ok(data) = frame.into_data() {
            archive.write_all(&data).map_err(failed)?;
            size += data.len() as u64;
        }
    }
    archive.rewind().map_err(failed)?;
    let shell = builds::live_shell(&builds::all(slices).await?).cloned();
    let build = tokio::task::spawn_blocking(move || {
        let Unpacked { files, maps_left_out } = archive::read(archive, size)?;
        let build = if files.contains_key(shell_build::DESCRIPTION) {
            shell_build::check(files)?
        } else {
            Build::check(files, &shell.ok_or(SliceRefusal::NoPortal)?)?
        };
        Ok::<_, Failure>((build, maps_left_out))
    });
    let (build, maps_left_out) = build.await.map_err(Failure::internal)??;
    slices.shared.count_dropped(Dropped::MapTooLarge, maps_left_out);
    Ok(build)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ActivateBody {
    version: String,
    #[serde(default = "yes")]
    watch: bool,
    #[serde(default)]
    force: bool,
}

async fn activate<A: Author>(
    slices: Slices,
    author: A,
    Path(name): Path<String>,
    Json(ActivateBody { version, watch, force }): Json<ActivateBody>,
) -> Result<Answer<SliceBuilds>, Failure> {
    let name = author.slice(&slices, &name).await?;
    let version = name.version_from_request(&version)?;
    let mark = author.mark(&slices)?;
    activate::activate(&slices, name, version, watch, force, mark).await.map(Answer)
}

async fn roll_back<A: Author>(
    slices: Slices,
    author: A,
    Path(name): Path<String>,
) -> Result<Answer<SliceBuilds>, Failure> {
    let name = author.slice(&slices, &name).await?;
    activate::roll_back(&slices, name, None, author.mark(&slices)?).await.map(Answer)
}

async fn roll_out<A: Author>(
    slices: Slices,
    author: A,
    Path(name): Path<String>,
    Json(body): Json<RolloutBody>,
) -> Result<Answer<SliceBuilds>, Failure> {
    let name = author.slice(&slices, &name).await?;
    let (version, share) = (name.version_from_request(&body.version)?, body.share()?);
    let mark = author.mark(&slices)?;
    roll_out::roll_out(&slices, name, version, share, body.watch, mark).await.map(Answer)
}

async fn change<A: Author>(
    change: Change,
    slices: Slices,
    author: A,
    Path(name): Path<String>,
) -> Result<Answer<SliceBuilds>, Failure> {
    let name = author.slice(&slices, &name).await?;
    roll_out::change(&slices, name, change, None, author.mark(&slices)?).await.map(Answer)
}

async fn remove(
    slices: Slices,
    operator: Operator,
    Path(name): Path<String>,
) -> Result<Answer<SliceBuilds>, Failure> {
    let (name, mark) = (SliceName::from_request(&name)?, operator.mark(&slices)?);
    remove::remove(&slices, name, mark).await.map(Answer)
}
