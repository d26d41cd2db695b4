//! Lets the guests of a sandbox in, who have its address and no password.

use super::{
    Auth, AuthRefusal, Staff, browser::Browser, client_address::ClientAddress, device, session,
    sign_in::SignedIn, trail::Visitor,
};
use crate::events::{self, EventKind};
use base::{email::Email, error::Failure};
use store::Connection;

/// Opens a session for the account of `email`. The caller has made sure that the guest may have it.
pub async fn let_in(
    auth: &Auth,
    ClientAddress(address): ClientAddress,
    browser: Browser,
    email: &Email,
) -> Result<SignedIn, Failure> {
    let mut reader = auth.world.database.read().await?;
    let staff = Staff::by_email(&mut reader, email).await?.ok_or(AuthRefusal::UserNotFound)?;
    let length = session::length(&auth.world, &mut reader).await?;
    drop(reader);
    if !staff.is_active {
        return Err(AuthRefusal::AccountInactive.into());
    }
    let (session, token) = session::prepare(auth, &staff, length, address, browser)?;
    let visitor = Visitor::new(&auth.fingerprints, auth.world.clock.unset_now(), email, address);
    let guest = staff.clone();
    let ruling = events::write(&auth.world.database, async move |connection: &mut Connection| {
        session.insert(connection).await?;
        Ok(visitor.granted(EventKind::SignedIn, &guest, "with the address of a story"))
    });
    ruling.await??;
    let device_cookie = device::set_cookie(auth, &staff, &token)?;
    Ok(SignedIn { token, staff, device_cookie })
}
