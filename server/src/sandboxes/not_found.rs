//! The page that browsers get for a sandbox that does not exist.

use axum::{http::StatusCode, response::Response};

use super::{Addresses, Name};
use settings::Settings;
use web::notice::{self, escaped};

/// The page, with status 404.
pub fn page(settings: &Settings, addresses: &Addresses, sentence: &str) -> Response {
    let body = format!(
        "<p>{sentence} It may have expired, or been removed.</p>\
         <p>Whoever has the console's token can make one: <code>mkopo sandbox add NAME</code></p><p><a href=\"{address}\">Go to {brand}</a></p>",
        brand = escaped(&settings.brand),
        sentence = escaped(sentence),
        address = escaped(&addresses.portal(&Name::main())),
    );
    notice::page(StatusCode::NOT_FOUND, &settings.brand, "Sandbox not found", &body)
}
