//! The console's calls about slices, and the list that the portal reads.

use std::io::{ErrorKind, Seek, Write};

use axum::{
    Json as Answer, Router,
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{delete, get, post},
};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    Brings, Bucket, Build, Bundled, Mark, Publication, Share, Shell, SliceBuilds, SliceEvent, SliceName,
    archive, rollout,
    rollout::{Change, RolloutBody, yes},
};
use crate::{Sandbox, slices::SliceRefusal};
use base::error::Failure;
use lending::events::Trail;
use web::{
    accept,
    extract::{Json, Path, Query},
    ready_body::{ReadyBody, digest},
};

/// The path under the console's API that builds are uploaded to.
const BUILDS: &str = "/slices";

/// The routes under the console's API.
pub fn routes() -> Router {
    Router::new()
        .route(BUILDS, get(list).post(publish))
        .route("/slices/{name}", delete(remove))
        .route("/slices/{name}/activate", post(activate))
        .route("/slices/{name}/rollback", post(roll_back))
        .route("/slices/{name}/rollout", post(roll_out))
        .route(
            "/slices/{name}/hold",
            post(|sandbox, trail, name, by| change(Change::Hold, sandbox, trail, name, by)),
        )
        .route(
            "/slices/{name}/promote",
            post(|sandbox, trail, name, by| change(Change::Promote, sandbox, trail, name, by)),
        )
        .route(
            "/slices/{name}/abort",
            post(|sandbox, trail, name, by| change(Change::Abort, sandbox, trail, name, by)),
        )
}

/// Returns `true` if a call under the console's API uploads a build. Its body may exceed the usual limit
/// and is read by its handler, once the caller is authenticated.
pub fn uploads_build(method: &Method, call: &str) -> bool {
    method == Method::POST && call == BUILDS
}

#[derive(Serialize)]
struct Overview {
    shell: Option<Shell>,
    slices: Vec<SliceBuilds>,
    trail: Vec<SliceEvent>,
}

async fn list(sandbox: Sandbox) -> Result<Answer<Overview>, Failure> {
    let bundled = Bundled::of(&sandbox).await?;
    let mut reader = sandbox.database.read().await?;
    let slices = super::all(&mut reader, &bundled).await?;
    let trail = super::trail(&mut reader).await?;
    Ok(Answer(Overview { shell: bundled.shell, slices, trail }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PublishQuery {
    by: Option<String>,
    #[serde(default)]
    hold: bool,
    #[serde(default)]
    force: bool,
    percent: Option<u8>,
    plan: Option<String>,
    #[serde(default = "yes")]
    watch: bool,
}

async fn publish(
    sandbox: Sandbox,
    trail: Trail,
    Query(PublishQuery { by, hold, force, percent, plan, watch }): Query<PublishQuery>,
    request: Request,
) -> Result<(StatusCode, Answer<SliceBuilds>), Failure> {
    let mark = Mark::now(&sandbox, by, trail)?;
    let share = Share::from_request(percent, plan.as_deref())?;
    let publication = publication(&sandbox, hold, force, share, watch)?;
    let bundled = Bundled::of(&sandbox).await?;
    let build = receive(&sandbox, &bundled, request).await?;
    let (slice, is_new) = super::publish(&sandbox.database, &bundled, build, publication, mark).await?;
    Ok((if is_new { StatusCode::CREATED } else { StatusCode::OK }, Answer(slice)))
}

/// The options for publishing a build.
pub(super) fn publication(
    sandbox: &Sandbox,
    hold: bool,
    force: bool,
    share: Option<Share>,
    is_watched: bool,
) -> Result<Publication, Failure> {
    if hold && share.is_some() {
        return Err(Failure::BadValue("A build that is held goes to nobody: give no percentage".to_owned()));
    }
    // Only those of `main` are compressed: the builds of sandboxes are not for many visitors.
    let compress_at = sandbox.is_main().then(|| sandbox.clock.unset_now());
    Ok(Publication { hold, share, is_watched, force, compress_at })
}

/// Receives the build in an archive of limited size, and checks that the portal's shell can load it.
///
/// # Errors
/// [`SliceRefusal::TooManyUploads`], [`SliceRefusal::NoArchive`], [`SliceRefusal::BuildTooLarge`],
/// [`SliceRefusal::BadBuild`], and what is wrong with the build.
pub(super) async fn receive(
    sandbox: &Sandbox,
    bundled: &Bundled,
    request: Request,
) -> Result<Build, Failure> {
    let Ok(_place) = sandbox.server.uploads.try_acquire() else {
        return Err(SliceRefusal::TooManyUploads.into());
    };
    if !accept::is_of_type(request.headers(), "application/octet-stream") {
        return Err(SliceRefusal::NoArchive.into());
    }
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::StorageFull => Failure::NoRoom,
        _ => Failure::Internal(format!("an archive can't be stored: {error}")),
    };
    let mut archive = tempfile::tempfile_in(&sandbox.settings.store.data_dir).map_err(failed)?;
    let mut body = Limited::new(request.into_body(), archive::MAX_SIZE);
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
        }
    }
    archive.rewind().map_err(failed)?;
    let shell = bundled.shell()?.clone();
    let build = tokio::task::spawn_blocking(move || Build::check(archive::read(archive)?, &shell)).await;
    build.map_err(|panicked| Failure::Internal(panicked.to_string()))?
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ByQuery {
    by: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ActivateBody {
    pub version: String,
    #[serde(default = "yes")]
    pub watch: bool,
}

async fn activate(
    sandbox: Sandbox,
    trail: Trail,
    Path(name): Path<String>,
    Query(ByQuery { by }): Query<ByQuery>,
    Json(ActivateBody { version, watch }): Json<ActivateBody>,
) -> Result<Answer<SliceBuilds>, Failure> {
    let name = SliceName::from_request(&name)?;
    let version = name.version_from_request(&version)?;
    let mark = Mark::now(&sandbox, by, trail)?;
    let bundled = Bundled::of(&sandbox).await?;
    super::activate(&sandbox.database, &bundled, name, version, watch, mark).await.map(Answer)
}

async fn roll_back(
    sandbox: Sandbox,
    trail: Trail,
    Path(name): Path<String>,
    Query(ByQuery { by }): Query<ByQuery>,
) -> Result<Answer<SliceBuilds>, Failure> {
    let (name, mark) = (SliceName::from_request(&name)?, Mark::now(&sandbox, by, trail)?);
    let bundled = Bundled::of(&sandbox).await?;
    super::roll_back(&sandbox.database, &bundled, name, mark).await.map(Answer)
}

async fn roll_out(
    sandbox: Sandbox,
    trail: Trail,
    Path(name): Path<String>,
    Query(ByQuery { by }): Query<ByQuery>,
    Json(body): Json<RolloutBody>,
) -> Result<Answer<SliceBuilds>, Failure> {
    let name = SliceName::from_request(&name)?;
    let (version, share) = (name.version_from_request(&body.version)?, body.share()?);
    let (mark, bundled) = (Mark::now(&sandbox, by, trail)?, Bundled::of(&sandbox).await?);
    let database = &sandbox.database;
    rollout::roll_out(database, &bundled, name, version, share, body.watch, mark).await.map(Answer)
}

async fn change(
    change: Change,
    sandbox: Sandbox,
    trail: Trail,
    Path(name): Path<String>,
    Query(ByQuery { by }): Query<ByQuery>,
) -> Result<Answer<SliceBuilds>, Failure> {
    let (name, mark) = (SliceName::from_request(&name)?, Mark::now(&sandbox, by, trail)?);
    let bundled = Bundled::of(&sandbox).await?;
    rollout::change(&sandbox.database, &bundled, name, change, mark).await.map(Answer)
}

async fn remove(
    sandbox: Sandbox,
    trail: Trail,
    Path(name): Path<String>,
    Query(ByQuery { by }): Query<ByQuery>,
) -> Result<Answer<SliceBuilds>, Failure> {
    let (name, mark) = (SliceName::from_request(&name)?, Mark::now(&sandbox, by, trail)?);
    let bundled = Bundled::of(&sandbox).await?;
    super::remove(&sandbox.database, &bundled, name, mark).await.map(Answer)
}

/// Redirects to the package of mfe-kit that this portal has. Its address contains the version, because
/// npm caches a package by its address forever.
pub async fn newest_kit(sandbox: Sandbox) -> Result<Response, Failure> {
    let shell = Bundled::of(&sandbox).await?.shell;
    let package = shell.and_then(|shell| shell.kit_package).ok_or(Failure::NotFound)?;
    Ok((StatusCode::FOUND, [(header::LOCATION, package.address)]).into_response())
}

/// `/slices.json`.
pub async fn live(sandbox: Sandbox, headers: HeaderMap) -> Result<Response, Failure> {
    let settings = &sandbox.settings;
    let bundled = Bundled::of(&sandbox).await?;
    let slices = super::all(&mut *sandbox.database.read().await?, &bundled).await?;
    let known = Bucket::find(&headers, settings.behind_tls);
    let bucket = known.unwrap_or_else(|| Bucket::draw(&sandbox.server.randomness));
    let listed: Map<String, Value> = slices.into_iter().filter_map(|slice| listed(slice, bucket)).collect();
    let origins: Vec<&str> =
        settings.slice_origins.iter().filter_map(|origin| origin.to_str().ok()).collect();
    let mut body = json!({
        "portal": {
            "brand": settings.brand,
            "product": settings.product(),
            "time_zone": settings.time_zone.iana_name(),
            "demo": settings.demo,
            "console": sandbox.server.sandboxes.addresses().console(&sandbox.name).filter(|_| settings.demo),
            "allow_override": settings.allows_slice_override(),
            "slice_origins": origins,
            "reports": sandbox.is_main() && bundled.shell.is_some(),
        },
        "shell": bundled.shell,
        "slices": listed,
    });
    if settings.has_live_screens() {
        body["portal"]["screens"] = "live".into();
    }
    let body = serde_json::to_vec(&body).map_err(|error| Failure::Internal(error.to_string()))?;
    let digest = digest(&body);
    let mut answer = ReadyBody::new("application/json", body.into(), digest)?.answer_plain(&headers);
    answer.headers_mut().insert(header::VARY, HeaderValue::from_static("cookie, accept-encoding"));
    if known.is_none() {
        answer.headers_mut().insert(header::SET_COOKIE, bucket.cookie(settings.behind_tls)?);
    }
    Ok(answer)
}

/// The entry of a slice in the list for browsers in `bucket`; `None` while it has no build for them.
fn listed(slice: SliceBuilds, bucket: Bucket) -> Option<(String, Value)> {
    let build = |version: &Version| {
        slice.build(version).map(|build| {
            json!({
                "version": build.version,
                "entry": build.entry,
                "integrity": build.integrity,
                "shell": build.shell,
            })
        })
    };
    let (live, previous) = slice.of_bucket(bucket);
    let Brings { screens, menu, failures } = &slice.build(live?)?.brings;
    let mut listed = build(live?)?;
    listed["screens"] = json!(screens);
    listed["menu"] = json!(menu);
    listed["failures"] = json!(failures);
    listed["previous"] = previous.and_then(build).into();
    Some((slice.name, listed))
}
