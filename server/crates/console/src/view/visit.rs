//! A request of a signed-in operator for a page, and its response.

use std::{str::FromStr, sync::atomic::AtomicBool};

use super::page::Page;
use crate::refusal::ConsoleRefusal;
use axum::{
    extract::FromRequestParts,
    http::{StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use base::{clock::UnixMillis, error::Failure};
use lending::events::Trail;
use serde::{
    Deserialize,
    de::{
        IntoDeserializer,
        value::{Error, MapDeserializer, StrDeserializer},
    },
};
use worlds::sandboxes::{Access, Name, Sandbox};

/// The name of a page's form to filter its list, whose fields are those of the query string.
pub const SEARCH: &str = "find";

/// The name of the hidden field that has what the page showed in field `name`.
pub fn shown_name(name: &str) -> String {
    format!("{name}_shown")
}

/// The fields of a form or a query string.
#[derive(Clone, Debug, Default)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// Parses `application/x-www-form-urlencoded`, without NUL characters, which PostgreSQL can't store.
    pub fn parse(bytes: &[u8]) -> Self {
        let fields = form_urlencoded::parse(bytes);
        Self(fields.map(|(name, value)| (name.into_owned(), value.replace('\0', ""))).collect())
    }

    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The trimmed value of field `name`, or an empty string.
    pub fn text(&self, name: &str) -> &str {
        self.0.iter().find(|field| field.0 == name).map_or("", |field| field.1.trim())
    }

    /// The trimmed value of field `name`, if not empty.
    pub fn given(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// The fields without those that still have what the page showed: it may be another value by now.
    pub fn changed(&self) -> Self {
        let changed =
            self.0.iter().filter(|(name, _)| self.given(&shown_name(name)) != Some(self.text(name)));
        Self(changed.cloned().collect())
    }

    /// The parsed value of field `name`, if not empty.
    pub fn parsed<T: FromStr>(&self, name: &'static str, expected: &str) -> Result<Option<T>, FieldError> {
        let parse = |text: &str| {
            let failure = || Failure::BadValue(format!("{text:?} is not a {expected}"));
            text.parse().map_err(|_| FieldError { field: name, failure: failure() })
        };
        self.given(name).map(parse).transpose()
    }

    /// The value that field `name` names, as in the API.
    pub fn named<'de, T: Deserialize<'de>>(&'de self, name: &'static str) -> Result<T, Failure> {
        let given: StrDeserializer<'de, Error> = self.text(name).into_deserializer();
        T::deserialize(given).map_err(|error| Failure::bad_field(name, error.to_string()))
    }

    /// The parameters `names` of the query string, as in the API; empty if they are not given.
    pub fn parameters<'de, T: Deserialize<'de>>(&'de self, names: &[&'static str]) -> Result<T, Failure> {
        let given = names.iter().map(|name| (*name, self.text(name)));
        T::deserialize(MapDeserializer::<_, Error>::new(given))
            .map_err(|error| Failure::BadParameter(error.to_string()))
    }
}

/// The error of a rejected form, and the field to show it at.
#[derive(Debug)]
pub struct FieldError {
    /// The field; empty if the error is not about a field.
    pub field: &'static str,
    pub failure: Failure,
}

/// The value of the filter `field`; `None` if it is empty.
///
/// # Errors
/// [`Failure::BadParameter`], with the text of `parse`.
pub fn filter<T>(
    field: &'static str,
    text: &str,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, FieldError> {
    let parsed = (!text.is_empty()).then(|| parse(text)).transpose();
    parsed.map_err(|text| FieldError { field, failure: Failure::BadParameter(text) })
}

impl FieldError {
    /// Attributes failures to `field`.
    pub fn of(field: &'static str) -> impl Fn(Failure) -> Self {
        move |failure| Self { field, failure }
    }

    /// The sentence at the field, where it is clear that something is invalid.
    pub fn text(&self) -> String {
        match &self.failure {
            Failure::BadParameter(text) => format!("{text}."),
            failure => failure.to_string(),
        }
    }

    pub fn status(&self) -> StatusCode {
        self.failure.status_and_code().0
    }

    /// The error for a page that has no form with the submitted name.
    pub fn unknown_action() -> Self {
        Failure::BadValue("This page does not have this form".to_owned()).into()
    }
}

impl<F: Into<Failure>> From<F> for FieldError {
    fn from(failure: F) -> Self {
        let failure = failure.into();
        Self { field: failure.field().unwrap_or_default(), failure }
    }
}

/// A request extension that [`crate::door`] adds for signed-in operators.
#[derive(Clone, Debug)]
pub struct SignedIn {
    /// The id of the sign-in.
    pub id: String,
    /// The name in the audit trail. It is different for each sign-in: everybody has the same token.
    pub name: String,
    pub csrf: String,
    /// The access of the token that they signed in with.
    pub access: Access,
    /// The names of sandboxes that the operator may open.
    pub sandboxes: Vec<Name>,
    pub sent: Fields,
}

pub struct Visit {
    pub sandbox: Sandbox,
    pub query: Fields,
    /// The fields of the submitted form.
    pub sent: Fields,
    pub csrf: String,
    pub access: Access,
    /// The names of sandboxes that the operator may open, besides `main`, the most recently used first.
    pub sandboxes: Vec<Name>,
    pub trail: Trail,
    /// The error, if the form was rejected.
    pub error: Option<FieldError>,
    /// `true` once a field on the page shows the error.
    pub is_error_shown: AtomicBool,
}

impl<S: Send + Sync> FromRequestParts<S> for Visit {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let signed_in = parts.extensions.get::<SignedIn>().cloned().ok_or(ConsoleRefusal::NoConsoleToken)?;
        let query = Fields::parse(parts.uri.query().unwrap_or_default().as_bytes());
        let trail: Trail = parts.extensions.get().cloned().unwrap_or_default();
        Ok(Self::new(Sandbox::from_request_parts(parts, state).await?, query, signed_in, trail))
    }
}

/// A question to confirm before an act that can't be undone.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    pub title: &'a str,
    pub consequence: &'a str,
    pub yes: &'a str,
}

/// A successful form: the key of the page's message, and its argument.
#[derive(Clone, Debug)]
pub struct Done {
    message: &'static str,
    argument: String,
}

impl Done {
    pub fn new(message: &'static str) -> Self {
        Self { message, argument: String::new() }
    }

    /// Sets the argument, which replaces `{}` in the message.
    pub fn with(self, argument: impl Into<String>) -> Self {
        Self { argument: argument.into(), ..self }
    }
}

impl Visit {
    /// A request of `signed_in` to `sandbox` with the query string `query`, whose form has no error yet.
    pub fn new(sandbox: Sandbox, query: Fields, signed_in: SignedIn, trail: Trail) -> Self {
        let SignedIn { csrf, access, sandboxes, sent, .. } = signed_in;
        let is_error_shown = AtomicBool::new(false);
        Self { sandbox, query, sent, csrf, access, sandboxes, trail, error: None, is_error_shown }
    }

    pub fn has_sandboxes(&self) -> bool {
        self.access == Access::Operator && self.sandbox.server.sandboxes.are_on()
    }

    /// Returns `true` until the form is confirmed, in the script's dialog or on a page.
    pub fn needs_confirmation(&self) -> bool {
        self.sent.text("confirmed") != "yes"
    }

    /// The question that the form brings, until it is confirmed.
    pub fn question(&self) -> Option<Question<'_>> {
        let title = self.sent.given("question").filter(|_| self.needs_confirmation())?;
        Some(Question { title, consequence: self.sent.text("consequence"), yes: self.sent.text("yes") })
    }

    /// The time in the filter `name`, as the API has it; empty if none is given.
    pub fn filter_time(&self, name: &'static str) -> Result<String, FieldError> {
        let Some(text) = self.query.given(name) else { return Ok(String::new()) };
        let time = UnixMillis::local(text, self.sandbox.clock.zone()).map_err(Failure::BadParameter);
        Ok(time.map_err(FieldError::of(name))?.to_string())
    }

    /// What a search found: nothing if a filter is wrong, which the search form shows then.
    ///
    /// # Errors
    /// Those of a search with valid filters.
    pub fn found<T: Default>(&mut self, found: Result<T, FieldError>) -> Result<T, Failure> {
        match found {
            Ok(found) => Ok(found),
            Err(error) if error.status().is_client_error() => {
                // The error of a form that was posted to this address comes first.
                if self.error.is_none() {
                    let act = ("act".to_owned(), SEARCH.to_owned());
                    self.sent = Fields(std::iter::once(act).chain(self.query.0.clone()).collect());
                    self.error = Some(error);
                }
                Ok(T::default())
            }
            Err(error) => Err(error.failure),
        }
    }

    /// The response to a form: a redirect to the page, which shows the success message, or the page with
    /// the rejected input and the error.
    pub async fn after(
        mut self,
        page: Page,
        outcome: Result<Done, FieldError>,
        show: impl AsyncFnOnce(Self) -> Result<Response, Failure>,
    ) -> Result<Response, Failure> {
        match outcome {
            Ok(done) => {
                let mut query = form_urlencoded::Serializer::new(String::new());
                query.append_pair("done", done.message);
                if !done.argument.is_empty() {
                    query.append_pair("what", &done.argument);
                }
                Ok(see_other(&format!("{}?{}", page.address(), query.finish())))
            }
            Err(error) if error.status().is_client_error() => {
                self.error = Some(error);
                show(self).await
            }
            Err(error) => Err(error.failure),
        }
    }
}

/// Redirects to `address` with a GET request.
pub fn see_other(address: &str) -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, address)]).into_response()
}
