//! A sandbox that was just made, with its token.

use leptos::prelude::*;

use super::{frame::done, visit::Visit};
use worlds::sandboxes::Made;

/// The addresses and the token of a new sandbox; the token is shown only once.
pub fn shown_once(visit: &Visit, Made { record, token }: Made) -> AnyView {
    let addresses = &visit.sandbox.server.sandboxes.addresses;
    let (portal, console) = (addresses.portal(&record.name), addresses.console(&record.name));
    let made = done("done", format!("{} is made.", record.name));
    view! {
        {made}
        <section class="card in stack" aria-label="New sandbox">
            <dl class="facts">
                <dt>"Portal"</dt><dd><code>{portal}</code></dd>
                <dt>"Console"</dt><dd><code>{console.unwrap_or_default()}</code></dd>
                <dt>"Token"</dt><dd><code id="sandbox-token">{token}</code></dd>
            </dl>
            <p class="muted">"The token opens the console of this sandbox. It is not shown again."</p>
        </section>
    }
    .into_any()
}
