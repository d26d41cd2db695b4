//! The API to deploy a slice with its own token, at the portal's address: the console's listener is not
//! public.

use super::{DeployToken, redeem};
use crate::{
    api::{Author, PublishQuery, changes, publish_received, receive},
    build::SliceName,
    builds::SliceBuilds,
    of_world::Slices,
    refusal::SliceRefusal,
    trail::Mark,
};
use axum::{
    Json as Answer, Router,
    extract::{FromRequestParts, Request},
    http::{StatusCode, request::Parts},
    routing::post,
};
use base::{clock::UnixMillis, error::Failure};
use lending::{
    auth::{
        client_address::ClientAddress,
        limits::{self, Action, Caller},
    },
    events::{self, EventKind, NewEvent, Trail},
};
use store::Connection;
use web::{accept, extract::Query};

/// The path that builds are uploaded to.
const BUILDS: &str = "/deploy/slices";

/// The routes on the portal's listener.
pub fn routes() -> Router {
    changes::<Deployer>(BUILDS).route(BUILDS, post(publish))
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
        let slices = Slices::from_request_parts(parts, state).await?;
        let (caller, now) = (Caller::without_account(address.0), slices.clock.unset_now());
        // Tokens are in the store of `main`, whatever sandbox they deploy to.
        let database = &slices.shared.database;
        limits::check(&mut database.read().await?, Action::DeployToken, &caller, now).await?;
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
        events::write(database, async move |connection: &mut Connection| {
            if is_guess {
                limits::count(connection, Action::DeployToken, &caller, now).await?;
            }
            Ok(((), event))
        })
        .await?;
        Err(refused)
    }
}

/// The event of a token that is refused.
fn refusal_of(who: String, now: UnixMillis, address: ClientAddress) -> NewEvent {
    NewEvent::new(now, EventKind::DeployTokenRefused, who, Some(address.0))
}

/// The name of a token in the trail.
fn by(token: &str) -> String {
    format!("deploy token {token}")
}

impl Author for Deployer {
    /// Checks that the token is for the slice `name`.
    async fn slice(&self, slices: &Slices, name: &str) -> Result<SliceName, Failure> {
        if name == self.token.slice {
            return SliceName::from_request(name);
        }
        let event = refusal_of(by(&self.token.name), slices.clock.unset_now(), self.address)
            .about(&self.token.slice)
            .details("it was used for another slice");
        events::write(&slices.shared.database, async move |_: &mut Connection| Ok(((), event))).await?;
        Err(SliceRefusal::WrongSlice { token: self.token.slice.clone(), slice: name.to_owned() }.into())
    }

    fn mark(self, slices: &Slices) -> Result<Mark, Failure> {
        let by = by(&self.token.name);
        let trail = Trail::by(&*by, Some(self.address.0), slices.clock.unset_now());
        Mark::now(slices, Some(by), trail)
    }
}

async fn publish(
    slices: Slices,
    deployer: Deployer,
    Query(query): Query<PublishQuery>,
    request: Request,
) -> Result<(StatusCode, Answer<SliceBuilds>), Failure> {
    if query.by.is_some() {
        return Err(Failure::BadParameter("`by` is the name of the deploy token".to_owned()));
    }
    let publication = query.publication()?;
    let build = receive(&slices, request).await?;
    deployer.slice(&slices, build.name.as_str()).await?;
    let mark = deployer.mark(&slices)?;
    publish_received(&slices, build, publication, mark).await
}
