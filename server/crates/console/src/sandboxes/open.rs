//! Opens the console of another sandbox for an operator, without asking for the token again. That console
//! is another origin, to which the browser does not send the cookie of this one.

use axum::response::Response;

use crate::{
    door::tickets,
    view::visit::{Visit, see_other},
};
use base::error::Failure;
use worlds::sandboxes::Name;

/// Redirects to the console of the sandbox in the query, with a ticket that opens it once.
pub async fn open(visit: Visit) -> Result<Response, Failure> {
    let server = &visit.sandbox.server;
    let name = Name::existing(visit.query.text("sandbox"))?;
    if !visit.has_sandboxes() {
        return Err(Failure::NotFound);
    }
    let address = server.sandboxes.addresses.console(&name).ok_or(Failure::NotFound)?;
    let database = if name.is_main() {
        server.database.clone()
    } else {
        server.sandboxes.find(server, &name).await?.sandbox.database.clone()
    };
    let ticket = tickets::issue(&visit.sandbox, &database).await?;
    Ok(see_other(&format!("{address}/console?token={ticket}")))
}
