//! The API to deploy a slice with its own token, at the portal's address: the console's listener is not
//! public.

use axum::{
    Json as Answer, Router,
    extract::{FromRequestParts, Request},
    http::{Method, StatusCode, request::Parts},
    routing::post,
};
use serde::Deserialize;

use super::{DeployToken, redeem};
use crate::{
    activate::{self},
    api::{ActivateBody, publication, receive},
    build::SliceName,
    builds::{Bundled, SliceBuilds},
    of_world::Slices,
    publish::{self},
    refusal::SliceRefusal,
    roll_out::{self, Change, RolloutBody, yes},
    rollout::Share,
    trail::Mark,
};
use base::{clock::UnixMillis, error::Failure};
use lending::{
    auth::{
        client_address::ClientAddress,
        limits::{self, Action, Caller},
    },
    events::{Kind, NewEvent, Trail},
};
use store::Connection;
use web::{
    accept,
    extract::{Json, Path, Query},
};

/// The path that builds are uploaded to.
const BUILDS: &str = "/deploy/slices";

/// The routes on the portal's listener.
pub fn routes() -> Router {
    Router::new()
        .route(BUILDS, post(publish))
        .route("/deploy/slices/{name}/activate", post(activate))
        .route("/deploy/slices/{name}/rollback", post(roll_back))
        .route("/deploy/slices/{name}/rollout", post(roll_out))
        .route(
            "/deploy/slices/{name}/hold",
            post(|slices, deployer, name| change(Change::Hold, slices, deployer, name)),
        )
        .route(
            "/deploy/slices/{name}/promote",
            post(|slices, deployer, name| change(Change::Promote, slices, deployer, name)),
        )
        .route(
            "/deploy/slices/{name}/abort",
            post(|slices, deployer, name| change(Change::Abort, slices, deployer, name)),
        )
}

/// Returns `true` if a call uploads a build. Its body may exceed the usual limit and is read by its
/// handler, once the caller is authenticated.
pub fn uploads_build(method: &Method, path: &str) -> bool {
    method == Method::POST && path == BUILDS
}

/// A caller with a valid token.
struct Deployer {
    token: DeployToken,
    address: ClientAddress,
}

impl<S: Send + Sync> FromRequestParts<S> for Deployer {
    type Rejection = Failure;

    /// Wrong tokens are limited like passwords, by network address, and counted by the machine's clock.
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        // A call without a token does not count as an attempt.
        let given = accept::bearer(&parts.headers).ok_or(SliceRefusal::NoDeployToken)?.to_owned();
        let address = ClientAddress::from_request_parts(parts, state).await?;
        let slices = Slices::of(parts)?;
        let (caller, now) = (Caller::without_account(address.0), slices.clock.unset_now());
        // Tokens are in the store of `main`, whatever sandbox they deploy to.
        let database = &slices.shared.database;
        limits::check(&mut *database.read().await?, Action::DeployToken, &caller, now).await?;
        let refused = match redeem(database, &given, now).await {
            Ok(token) => return Ok(Self { token, address }),
            Err(failure) => failure,
        };
        let event = match refused.refusal() {
            Some(SliceRefusal::NoDeployToken) => refusal_of("unknown".to_owned(), now, address),
            Some(SliceRefusal::DeployTokenExpired { slice, name }) => {
                refusal_of(by(name), now, address).about(slice).details("it has expired")
            }
            _ => return Err(refused),
        };
        let is_guess = matches!(refused.refusal(), Some(SliceRefusal::NoDeployToken));
        let counted = database.write(async move |connection: &mut Connection| {
            if is_guess {
                limits::count(connection, Action::DeployToken, &caller, now).await?;
            }
            event.add(connection).await?;
            Ok(event)
        });
        counted.await?.log();
        Err(refused)
    }
}

/// The event of a token that is refused.
fn refusal_of(who: String, now: UnixMillis, address: ClientAddress) -> NewEvent {
    NewEvent::new(now, Kind::DeployTokenRefused, who, Some(address.0))
}

/// The name of a token in the trail.
fn by(token: &str) -> String {
    format!("deploy token {token}")
}

impl Deployer {
    /// Checks that the token is for the slice `name`.
    async fn check(&self, slices: &Slices, name: &str) -> Result<SliceName, Failure> {
        if name == self.token.slice {
            return SliceName::from_request(name);
        }
        let event = refusal_of(by(&self.token.name), slices.clock.unset_now(), self.address)
            .about(&self.token.slice)
            .details("it was used for another slice");
        let written = slices.shared.database.write(async move |connection: &mut Connection| {
            event.add(connection).await?;
            Ok(event)
        });
        written.await?.log();
        Err(SliceRefusal::WrongSlice { token: self.token.slice.clone(), slice: name.to_owned() }.into())
    }

    /// The name in the trail.
    fn by(&self) -> String {
        by(&self.token.name)
    }

    /// The mark of an act on the token's slice.
    fn mark(&self, slices: &Slices) -> Result<Mark, Failure> {
        let trail = Trail::by(self.by(), Some(self.address.0), slices.clock.unset_now());
        Mark::now(slices, Some(self.by()), trail)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PublishQuery {
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
    slices: Slices,
    deployer: Deployer,
    Query(PublishQuery { hold, force, percent, plan, watch }): Query<PublishQuery>,
    request: Request,
) -> Result<(StatusCode, Answer<SliceBuilds>), Failure> {
    let share = Share::from_request(percent, plan.as_deref())?;
    let publication = publication(&slices, hold, force, share, watch)?;
    let bundled = Bundled::of(&slices).await?;
    let build = receive(&slices, &bundled, request).await?;
    deployer.check(&slices, build.name.as_str()).await?;
    let mark = deployer.mark(&slices)?;
    let (slice, is_new) = publish::publish(&slices.database, &bundled, build, publication, mark).await?;
    Ok((if is_new { StatusCode::CREATED } else { StatusCode::OK }, Answer(slice)))
}

async fn activate(
    slices: Slices,
    deployer: Deployer,
    Path(name): Path<String>,
    Json(ActivateBody { version, watch }): Json<ActivateBody>,
) -> Result<Answer<SliceBuilds>, Failure> {
    let name = deployer.check(&slices, &name).await?;
    let version = name.version_from_request(&version)?;
    let mark = deployer.mark(&slices)?;
    let bundled = Bundled::of(&slices).await?;
    activate::activate(&slices.database, &bundled, name, version, watch, mark).await.map(Answer)
}

async fn roll_back(
    slices: Slices,
    deployer: Deployer,
    Path(name): Path<String>,
) -> Result<Answer<SliceBuilds>, Failure> {
    let name = deployer.check(&slices, &name).await?;
    let mark = deployer.mark(&slices)?;
    let bundled = Bundled::of(&slices).await?;
    activate::roll_back(&slices.database, &bundled, name, mark).await.map(Answer)
}

async fn roll_out(
    slices: Slices,
    deployer: Deployer,
    Path(name): Path<String>,
    Json(body): Json<RolloutBody>,
) -> Result<Answer<SliceBuilds>, Failure> {
    let name = deployer.check(&slices, &name).await?;
    let (version, share) = (name.version_from_request(&body.version)?, body.share()?);
    let mark = deployer.mark(&slices)?;
    let (bundled, database) = (Bundled::of(&slices).await?, &slices.database);
    roll_out::roll_out(database, &bundled, name, version, share, body.watch, mark).await.map(Answer)
}

async fn change(
    change: Change,
    slices: Slices,
    deployer: Deployer,
    Path(name): Path<String>,
) -> Result<Answer<SliceBuilds>, Failure> {
    let name = deployer.check(&slices, &name).await?;
    let mark = deployer.mark(&slices)?;
    let bundled = Bundled::of(&slices).await?;
    roll_out::change(&slices.database, &bundled, name, change, mark).await.map(Answer)
}
