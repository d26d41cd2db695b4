//! The page of a link. It makes a sandbox once somebody presses its button, and goes there.

use std::{collections::HashMap, net::IpAddr, sync::Arc, time::Duration};

use axum::{
    Extension, Router,
    extract::RawQuery,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response, Result},
    routing::get,
};

use parking_lot::Mutex;
use tokio::sync::OnceCell;

use super::{
    File, Stories, begin,
    entry::entry_url,
    links::{self, Ended, Link},
};
use crate::{door::cross_site::is_own_site, view::words::duration_text};
use base::{clock::UnixMillis, error::Failure};
use lending::{
    auth::{client_address::ClientAddress, limits::network},
    events::Trail,
};
use web::{
    extract::Path,
    notice::{self, escaped},
};
use worlds::sandboxes::{LONGEST_EXPIRY, OfLink, Sandbox, Wish};

/// The time for which a page that is sent again leads to the same sandbox.
const ONCE: Duration = Duration::from_mins(1);

/// The addresses to which pages that were sent lead, by link and page, and when they were sent first. On a double click,
/// a browser sends a page twice and shows the second answer only.
type Sent = Arc<Mutex<HashMap<(String, String), (UnixMillis, Arc<OnceCell<String>>)>>>;

/// The routes on the portal's listener.
pub fn routes(stories: Arc<Stories>) -> Router {
    Router::new()
        .route("/open/{token}", get(show).post(open))
        .layer(Extension(Sent::default()))
        .layer(Extension(stories))
}

/// A token that can't be read is that of no link.
fn token_in(path: Result<Path<String>, Failure>) -> String {
    path.map(|Path(token)| token).unwrap_or_default()
}

async fn show(
    sandbox: Sandbox,
    Extension(stories): Extension<Arc<Stories>>,
    token: Result<Path<String>, Failure>,
) -> Result<Response> {
    let token = token_in(token);
    let (link, file) = usable(&sandbox, &stories, &token).await?;
    let text = file.story.text.as_ref().map(|text| format!("<p>{}</p>", escaped(text))).unwrap_or_default();
    let body = format!(
        "{text}<p>You get a sandbox of your own: the data is invented, and no money moves. It is gone after {}.</p>\
         <form method=\"post\" action=\"?{}\"><button>Open the sandbox</button></form>",
        duration_text(link.lives_for()).replace(' ', "\u{a0}"),
        hex::encode(sandbox.server.randomness.bytes::<16>()),
    );
    Ok(page(&sandbox, StatusCode::OK, &file.story.title.0, &body))
}

async fn open(
    sandbox: Sandbox,
    Extension(stories): Extension<Arc<Stories>>,
    Extension(sent): Extension<Sent>,
    ClientAddress(address): ClientAddress,
    token: Result<Path<String>, Failure>,
    RawQuery(page): RawQuery,
    headers: HeaderMap,
) -> Result<Response> {
    let now = sandbox.clock.unset_now();
    if sandbox.server.openings.count(&network(address), now).is_err() {
        let heading = "Too many openings from your network";
        return Ok(refused(&sandbox, StatusCode::TOO_MANY_REQUESTS, heading, "Try again in a minute."));
    }
    // Another site's page must not use a link up.
    if !is_own_site(&headers) {
        let text = "Pages of other sites can't open it.";
        return Ok(refused(&sandbox, StatusCode::FORBIDDEN, "Open the address itself", text));
    }
    let token = token_in(token);
    // What is remembered has a bound: nobody can have pages of a link that is not known.
    known(&sandbox, &token).await?;
    let made = match page.filter(|page| is_page(page)) {
        None => Arc::default(),
        Some(page) => {
            let mut sent = sent.lock();
            sent.retain(|_, (at, _)| now.since(*at) < ONCE);
            Arc::clone(&sent.entry((token.clone(), page)).or_insert_with(|| (now, Arc::default())).1)
        }
    };
    let to = made.get_or_try_init(|| make(&sandbox, &stories, &token, address)).await?.clone();
    Ok((StatusCode::SEE_OTHER, [(header::LOCATION, to), (header::CACHE_CONTROL, "no-store".to_owned())])
        .into_response())
}

/// Returns whether `text` is the name of a page that [`show`] can have sent.
fn is_page(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Makes a sandbox for a guest at `address`. Returns the address at which the guest enters it.
///
/// # Errors
/// The page that says why there is none, or a failure.
async fn make(main: &Sandbox, stories: &Stories, token: &str, address: IpAddr) -> Result<String> {
    let (server, now) = (&main.server, main.clock.unset_now());
    let (link, file) = usable(main, stories, token).await?;
    if !links::claim(server, &link).await? {
        // Somebody has used it up or revoked it meanwhile.
        usable(main, stories, token).await?;
        return Err(gone(main).into());
    }
    let of_link = OfLink { link_id: link.id.clone(), ends_at: now.plus(link.lives_for()) };
    let wish = Wish { expires_in: LONGEST_EXPIRY, of_link: Some(of_link), ..Wish::default() };
    let trail = Trail::by("a guest", Some(address), now).noting(format!("story {}", file.name));
    let made = match begin(server, &file, wish, &trail).await {
        Ok(made) => made,
        Err(failure) => {
            links::release(server, &link).await?;
            return Err(not_begun(main, &file, failure)?.into());
        }
    };
    let role =
        link.roles().first().copied().ok_or_else(|| Failure::Internal("a link without a role".to_owned()))?;
    Ok(entry_url(server, &made.record, role))
}

/// The page that says why a story has not begun.
fn not_begun(main: &Sandbox, file: &File, failure: Failure) -> Result<Response, Failure> {
    let (status, _) = failure.status_and_code();
    if matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::INSUFFICIENT_STORAGE) {
        let text = "Sandboxes of others end all the time: try again in a few minutes.";
        return Ok(refused(main, StatusCode::SERVICE_UNAVAILABLE, "All places are taken", text));
    }
    if !status.is_client_error() {
        return Err(failure);
    }
    tracing::warn!(story = file.name, reason = %failure, "story.not_begun");
    let text = "Tell whoever gave you the link. It is not used up by this.";
    Ok(refused(main, StatusCode::UNPROCESSABLE_ENTITY, "This story can't begin", text))
}

/// The link with this token.
///
/// # Errors
/// The page that says that it is not known, or a failure.
async fn known(main: &Sandbox, token: &str) -> Result<Link> {
    let found = if main.is_main() { links::find(&main.server, token).await? } else { None };
    let text = "Ask whoever gave it to you for the whole address.";
    found.ok_or_else(|| refused(main, StatusCode::NOT_FOUND, "This link is not known", text).into())
}

/// The link with this token and its story.
///
/// # Errors
/// The page that says why it makes no sandbox, or a failure.
async fn usable(main: &Sandbox, stories: &Stories, token: &str) -> Result<(Link, Arc<File>)> {
    let link = known(main, token).await?;
    if !main.server.sandboxes.are_on() {
        let text = "Load the page again. If that does not help, tell whoever gave you the link.";
        return Err(refused(main, StatusCode::MISDIRECTED_REQUEST, "This server opens no links", text).into());
    }
    let sentence = match link.ended(main.clock.unset_now()) {
        None => {
            let file = stories.find(&link.story).map_err(|_| gone(main))?;
            return Ok((link, file));
        }
        Some(Ended::Revoked) => "This link was revoked",
        Some(Ended::Over) => "This link is over",
        Some(Ended::UsedUp) => "This link is used up",
    };
    let text =
        "Ask whoever gave it to you for another one. Sandboxes that it has made stay until their time.";
    Err(refused(main, StatusCode::GONE, sentence, text).into())
}

fn gone(main: &Sandbox) -> Response {
    let text = "Ask whoever gave it to you for another one.";
    refused(main, StatusCode::GONE, "The story of this link is gone", text)
}

fn refused(main: &Sandbox, status: StatusCode, heading: &str, text: &str) -> Response {
    page(main, status, heading, &format!("<p>{text}</p>"))
}

/// A page whose form may lead to a sandbox, and that no search engine keeps.
fn page(main: &Sandbox, status: StatusCode, heading: &str, body: &str) -> Response {
    let everywhere = main.server.sandboxes.addresses.all_portals();
    let mut answer = notice::form(status, &main.settings.brand, heading, body, &everywhere);
    answer.headers_mut().insert(HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex"));
    answer
}
