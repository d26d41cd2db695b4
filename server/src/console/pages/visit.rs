//! A request for a page by somebody who is let in, and how it is answered.

use std::sync::atomic::AtomicBool;

use axum::{
    extract::FromRequestParts,
    http::{StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use leptos::prelude::*;

use super::{
    Page,
    form::{Fields, Refusal},
    frame::{self, Frame},
};
use crate::{Sandbox, error::Failure};

/// Who is let in: put on a request by the door.
#[derive(Clone, Debug)]
pub struct Entered {
    /// Shows that a form is one of theirs.
    pub csrf: String,
    /// What was sent with a form.
    pub sent: Fields,
}

/// A request by somebody who is let in.
pub struct Visit {
    /// The world that the page is about.
    pub sandbox: Sandbox,
    /// What stands behind the question mark.
    pub query: Fields,
    /// What was sent with a form.
    pub sent: Fields,
    /// Shows that a form is one of this visitor's.
    pub csrf: String,
    /// Why what was sent was not done.
    pub refusal: Option<Refusal>,
    /// Whether a field of the page said so.
    pub is_refusal_shown: AtomicBool,
}

impl FromRequestParts<Sandbox> for Visit {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, sandbox: &Sandbox) -> Result<Self, Failure> {
        let entered = parts.extensions.get::<Entered>().cloned().ok_or(Failure::NoConsoleToken)?;
        Ok(Self {
            sandbox: sandbox.clone(),
            query: Fields::read(parts.uri.query().unwrap_or_default().as_bytes()),
            sent: entered.sent,
            csrf: entered.csrf,
            refusal: None,
            is_refusal_shown: AtomicBool::new(false),
        })
    }
}

/// That something was done: which of a page's sentences says it, and of what.
#[derive(Clone, Debug)]
pub struct Done {
    sentence: &'static str,
    what: String,
}

/// What a page says of what was done, by name; `{}` stands for what it was done with.
pub type Sentences = &'static [(&'static str, &'static str)];

impl Done {
    /// The sentence of that name.
    pub fn new(sentence: &'static str) -> Self {
        Self { sentence, what: String::new() }
    }

    /// With what it was done.
    pub fn with(self, what: impl Into<String>) -> Self {
        Self { what: what.into(), ..self }
    }
}

impl Visit {
    /// The sentence that the address asks for.
    fn said(&self, sentences: Sentences) -> Option<String> {
        let name = self.query.text("done");
        let (_, sentence) = sentences.iter().find(|sentence| sentence.0 == name)?;
        let what: String = self.query.text("what").chars().take(100).collect();
        Some(sentence.replace("{}", &what))
    }

    /// The page, with status 200, or with that of what was refused.
    pub fn page(&self, frame: Frame, body: impl FnOnce() -> AnyView) -> Response {
        let status = self.refusal.as_ref().map_or(StatusCode::OK, Refusal::status);
        let said = self.said(frame.sentences);
        (status, frame::html(self, frame, said, body)).into_response()
    }

    /// What follows a form: the page again, which says that it was done; or the page with what was
    /// typed, and what is wrong with it.
    pub async fn after(
        mut self,
        page: Page,
        outcome: Result<Done, Refusal>,
        show: impl AsyncFnOnce(Self) -> Result<Response, Failure>,
    ) -> Result<Response, Failure> {
        match outcome {
            Ok(done) => {
                let mut query = form_urlencoded::Serializer::new(String::new());
                query.append_pair("done", done.sentence);
                if !done.what.is_empty() {
                    query.append_pair("what", &done.what);
                }
                Ok(see(&format!("{}?{}", page.address(), query.finish())))
            }
            Err(refusal) if refusal.status().is_client_error() => {
                self.refusal = Some(refusal);
                show(self).await
            }
            Err(refusal) => Err(refusal.failure),
        }
    }
}

/// Leads on to `address`, by GET.
pub fn see(address: &str) -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, address)]).into_response()
}
