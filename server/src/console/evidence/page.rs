//! The evidence as a file.

use axum::{
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};

use crate::{console::view::visit::Visit, error::Failure};

/// The file to download.
pub async fn download(visit: Visit) -> Result<Response, Failure> {
    let evidence = super::of(&visit.sandbox).await?;
    let json = serde_json::to_vec_pretty(&evidence).map_err(|error| Failure::Internal(error.to_string()))?;
    let disposition = format!("attachment; filename=\"evidence-{}.json\"", visit.sandbox.name);
    let disposition =
        HeaderValue::from_str(&disposition).map_err(|error| Failure::Internal(error.to_string()))?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (header::CONTENT_DISPOSITION, disposition),
    ];
    Ok((headers, json).into_response())
}
