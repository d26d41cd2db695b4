//! The calls of the card beside the screens of a sandbox that tells a story.

use std::time::Duration;

use axum::{
    Json as Answer, Router,
    extract::Request,
    http::header,
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};

use super::{
    Progress,
    begin::begin_again,
    entry::{account_of, entry_url, role_of},
    go_on, links, progress,
};
use crate::refusal::ConsoleRefusal;
use ::slices::page_call::{self, MaxSize};
use base::{clock::UnixMillis, error::Failure};
use lending::{
    auth::{
        Role, authenticate, browser::Browser, client_address::ClientAddress, guest::let_in, session::Session,
    },
    events::Trail,
};
use web::extract::Optional;
use worlds::sandboxes::{Sandbox, sync};

const MAX_SIZE: MaxSize = (1024, "1 KiB");

/// The time for which a guest can keep a sandbox.
const KEPT_FOR: Duration = Duration::from_hours(24 * 7);

/// The routes on the portal's listener.
pub fn routes() -> Router {
    Router::new()
        .route("/story/told", get(show))
        .route("/story/next", post(next))
        .route("/story/keep", post(keep))
        .route("/story/again", post(again))
        .route("/story/file", get(take))
        .route_layer(middleware::from_fn(require_session))
        .route("/story/enter", post(enter))
        .route_layer(middleware::from_fn(sync::keep_in_sync))
}

async fn require_session(sandbox: Sandbox, request: Request, next: Next) -> Response {
    authenticate::require(&sandbox.auth, request, next).await
}

#[derive(Serialize)]
struct GuestStory {
    may_go_on: bool,
    ends_at: Option<UnixMillis>,
    may_keep: bool,
    own_url: Option<String>,
    invitations: Vec<Invitation>,
    story: Progress,
}

/// The address at which somebody else enters the same sandbox.
#[derive(Serialize)]
struct Invitation {
    role: Role,
    url: String,
}

impl GuestStory {
    async fn of(sandbox: &Sandbox, own: Role, story: Progress) -> Result<Answer<Self>, Failure> {
        let (mut ends_at, mut may_keep, mut own_url, mut invitations) = (None, false, None, Vec::new());
        if !sandbox.is_main() {
            let server = &sandbox.server;
            let record = server.sandboxes.record(&sandbox.name).await?;
            (ends_at, may_keep) = (record.ends_at, record.may_keep());
            for role in links::roles_of(server, &record).await? {
                let url = entry_url(server, &record, role);
                if role == own {
                    own_url = Some(url);
                } else {
                    invitations.push(Invitation { role, url });
                }
            }
        }
        Ok(Answer(Self { may_go_on: story.may_go_on(), ends_at, may_keep, own_url, invitations, story }))
    }
}

async fn show(sandbox: Sandbox, session: Session) -> Result<Answer<GuestStory>, Failure> {
    let story = progress(&sandbox).await?.ok_or(ConsoleRefusal::NoStory)?;
    GuestStory::of(&sandbox, session.staff.role, story).await
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Meant {
    step: Option<usize>,
}

async fn next(
    sandbox: Sandbox,
    session: Session,
    Optional(Meant { step }): Optional<Meant>,
) -> Result<Answer<GuestStory>, Failure> {
    let story = go_on(&sandbox, step, &Trail::default()).await?;
    GuestStory::of(&sandbox, session.staff.role, story).await
}

async fn keep(sandbox: Sandbox, session: Session) -> Result<Answer<GuestStory>, Failure> {
    if !sandbox.is_main() {
        sandbox.server.sandboxes.put_off_end(&sandbox.name, KEPT_FOR).await?;
    }
    show(sandbox, session).await
}

async fn again(
    sandbox: Sandbox,
    session: Session,
    address: ClientAddress,
    browser: Browser,
) -> Result<Response, Failure> {
    begin_again(&sandbox, &session).await?;
    Ok(let_in(&sandbox.auth, address, browser, &session.staff.email).await?.into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    code: String,
}

async fn enter(
    sandbox: Sandbox,
    address: ClientAddress,
    browser: Browser,
    request: Request,
) -> Result<Response, Failure> {
    let (limit, now) = (&sandbox.server.openings, sandbox.clock.unset_now());
    let Entry { code } = page_call::read(limit, MAX_SIZE, &sandbox.settings, address, now, request).await?;
    if sandbox.story().await?.is_none() {
        return Err(ConsoleRefusal::NoStory.into());
    }
    let id = sandbox.id.as_deref().ok_or(ConsoleRefusal::NoEntry)?;
    let role = role_of(&sandbox.server, id, &code)?;
    Ok(let_in(&sandbox.auth, address, browser, &account_of(role)?).await?.into_response())
}

const OUTSIDE_NAMES: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');

async fn take(sandbox: Sandbox) -> Result<Response, Failure> {
    let name = sandbox.story().await?.ok_or(ConsoleRefusal::NoStory)?;
    let failed = |error: std::io::Error| Failure::Internal(format!("a sandbox as a file: {error}"));
    let folder = tempfile::tempdir_in(&sandbox.settings.store.data_dir).map_err(failed)?;
    let file = folder.path().join("taken");
    sandbox.server.sandboxes.copy(&sandbox, &file).await?;
    let content = tokio::fs::read(&file).await.map_err(failed)?;
    // The name is that of a file, which may have any letters.
    let name = utf8_percent_encode(&name, &OUTSIDE_NAMES);
    let disposition = format!("attachment; filename*=UTF-8''{name}.mkopo");
    let headers = [
        (header::CONTENT_TYPE, "application/vnd.sqlite3".to_owned()),
        (header::CONTENT_DISPOSITION, disposition),
    ];
    Ok((headers, content).into_response())
}
