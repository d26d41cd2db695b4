//! A request for a page by somebody who is let in, and how it is answered.

use std::{str::FromStr, sync::atomic::AtomicBool};

use super::page::Page;
use crate::{Sandbox, error::Failure};
use axum::{
    extract::FromRequestParts,
    http::{StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};

/// Names and values, as a form or an address sends them.
#[derive(Clone, Debug, Default)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads `application/x-www-form-urlencoded`.
    pub fn read(bytes: &[u8]) -> Self {
        Self(form_urlencoded::parse(bytes).into_owned().collect())
    }

    /// The value of that name without spaces around it; empty where there is none.
    pub fn text(&self, name: &str) -> &str {
        self.0.iter().find(|field| field.0 == name).map_or("", |field| field.1.trim())
    }

    /// The value of that name, when it is not empty.
    pub fn given(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// The value of that name as it has to be read, when it is not empty.
    pub fn parsed<T: FromStr>(&self, name: &'static str, wanted: &str) -> Result<Option<T>, FieldError> {
        let read = |text: &str| {
            let wrong = || Failure::BadValue(format!("{text:?} is no {wanted}"));
            text.parse().map_err(|_| FieldError { field: name, failure: wrong() })
        };
        self.given(name).map(read).transpose()
    }
}

/// Why a form was not done, and beside which of its fields that is said.
#[derive(Debug)]
pub struct FieldError {
    /// Empty when it is about no field, or about one that the page does not show.
    pub field: &'static str,
    /// What is wrong.
    pub failure: Failure,
}

impl FieldError {
    /// Makes failures refusals of `field`.
    pub fn of(field: &'static str) -> impl Fn(Failure) -> Self {
        move |failure| Self { field, failure }
    }

    /// The status of the page that says it.
    pub fn status(&self) -> StatusCode {
        self.failure.status_and_code().0
    }

    /// The form asked for what the page can't do.
    pub fn of_act() -> Self {
        Failure::BadValue("This page has no such form".to_owned()).into()
    }
}

impl From<Failure> for FieldError {
    fn from(failure: Failure) -> Self {
        Self { field: failure.field().unwrap_or_default(), failure }
    }
}

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
    pub refusal: Option<FieldError>,
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
    /// What follows a form: the page again, which says that it was done; or the page with what was
    /// typed, and what is wrong with it.
    pub async fn after(
        mut self,
        page: Page,
        outcome: Result<Done, FieldError>,
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
