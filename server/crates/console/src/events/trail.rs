//! The trail of every call and form of the console, which the acts write to.

use axum::{extract::Request, middleware::Next, response::Response};

use crate::view::visit::SignedIn;
use lending::{auth::client_address::ClientAddress, events::Trail};
use worlds::sandboxes::Sandbox;

/// The author of acts by programs: all have the same token.
const OPERATOR: &str = "operator";

pub async fn attach(
    sandbox: Sandbox,
    ClientAddress(address): ClientAddress,
    mut request: Request,
    next: Next,
) -> Response {
    let signed_in = request.extensions().get::<SignedIn>();
    let who = signed_in.map_or(OPERATOR, |signed_in| signed_in.name.as_str());
    let trail = Trail::by(who, Some(address), sandbox.clock.unset_now());
    // Events about builds are in the store of `main`.
    let trail = if sandbox.is_main() { trail } else { trail.noting(format!("in sandbox {}", sandbox.name)) };
    request.extensions_mut().insert(trail);
    next.run(request).await
}
