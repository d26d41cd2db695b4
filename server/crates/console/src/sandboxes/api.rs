//! The API of sandboxes, for the operator.

use std::sync::Arc;

use axum::{
    Extension, Json as Answer, Router, extract::DefaultBodyLimit, http::StatusCode, middleware, routing::get,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::stories::{File, Stories, begin};
use base::{
    clock::{UnixMillis, duration},
    error::Failure,
};
use lending::{
    demo::{DemoData, Recording},
    events::Trail,
};
use settings::Screens;
use web::extract::{LARGE_BODY, Object, Optional, Path};
use worlds::sandboxes::{
    EXPIRES_IN, LONGEST_EXPIRY, Listed, Made, Name, SHORTEST_EXPIRY, Sandbox, Sandboxes, Wish, hide_when_off,
};

/// Routes, relative to the console's API, which makes sure that only the operator calls them.
pub fn routes() -> Router {
    Router::new()
        .route("/sandboxes", get(list).post(make).layer(DefaultBodyLimit::max(LARGE_BODY.0)))
        .route("/sandboxes/{name}", get(show).delete(remove))
        .route_layer(middleware::from_fn(hide_when_off))
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewSandbox {
    pub(super) name: Option<String>,
    pub(super) seed: Option<Value>,
    pub(super) now: Option<String>,
    pub(super) frozen: Option<bool>,
    pub(super) expires_in: Option<String>,
    pub(super) recording: Option<Object<Recording>>,
    pub(super) screens: Option<Screens>,
    pub(super) story: Option<GivenStory>,
}

/// The name of a story, or a whole one.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum GivenStory {
    Name(String),
    Whole(Value),
}

impl NewSandbox {
    pub(super) fn wish(self) -> Result<Wish, Failure> {
        let has_beginning = self.seed.is_some()
            || self.now.is_some()
            || self.frozen.is_some()
            || self.recording.is_some()
            || self.screens.is_some();
        if self.story.is_some() && has_beginning {
            let text = "story sets seed, now, frozen and screens, and has no recording: leave them out";
            return Err(Failure::bad_field("story", text));
        }
        let name = self.name.map(|name| {
            Name::parse(&name).ok_or_else(|| {
                Failure::bad_field("name", "name must be 1 to 40 lower-case letters, digits and dashes, without a dash at either end")
            })
        });
        let expires_in = self.expires_in.as_deref().map_or(Some(EXPIRES_IN), |text| duration(text).ok());
        let expires_in = expires_in.filter(|time| (SHORTEST_EXPIRY..=LONGEST_EXPIRY).contains(time));
        Ok(Wish {
            name: name.transpose()?,
            world: DemoData::of_json(self.seed.as_ref())?,
            now: self.now.as_deref().map(UnixMillis::settable).transpose()?,
            recording: self.recording.map(|Object(recording)| recording),
            screens: self.screens,
            is_frozen: self.frozen.unwrap_or(false),
            expires_in: expires_in.ok_or_else(|| {
                Failure::bad_field(
                    "expires_in",
                    "expires_in must be a duration such as 90s, 12h or 2d, from 5 s to 365 days",
                )
            })?,
            of_link: None,
        })
    }
}

#[derive(Serialize)]
struct Shown {
    name: Name,
    url: String,
    console_url: Option<String>,
    token: String,
    created_at: UnixMillis,
    expires_at: UnixMillis,
}

impl Shown {
    fn of(sandboxes: &Sandboxes, Made { record, token }: Made) -> Self {
        Self {
            url: sandboxes.addresses.portal(&record.name),
            console_url: sandboxes.addresses.console_url(&record.name),
            token,
            created_at: record.created_at,
            expires_at: record.created_at.plus(record.expires_in()),
            name: record.name,
        }
    }
}

async fn make(
    sandbox: Sandbox,
    trail: Trail,
    Extension(stories): Extension<Arc<Stories>>,
    Optional(wanted): Optional<NewSandbox>,
) -> Result<(StatusCode, Answer<Shown>), Failure> {
    let sandboxes = &sandbox.server.sandboxes;
    let story = wanted.story.clone();
    let wish = wanted.wish()?;
    let made = match story {
        Some(story) => {
            let file = match story {
                GivenStory::Name(name) => stories.find(&name)?,
                GivenStory::Whole(story) => Arc::new(File::given(&story)?),
            };
            begin(&sandbox.server, &file, wish, &trail).await?
        }
        None => sandboxes.make(wish, &trail).await?,
    };
    Ok((StatusCode::CREATED, Answer(Shown::of(sandboxes, made))))
}

async fn list(sandbox: Sandbox) -> Result<Answer<Vec<Listed>>, Failure> {
    sandbox.server.sandboxes.list().await.map(Answer)
}

async fn show(sandbox: Sandbox, Path(name): Path<String>) -> Result<Answer<Listed>, Failure> {
    sandbox.server.sandboxes.show(&Name::existing(&name)?).await.map(Answer)
}

async fn remove(sandbox: Sandbox, trail: Trail, Path(name): Path<String>) -> Result<StatusCode, Failure> {
    sandbox.server.sandboxes.remove(&Name::existing(&name)?, &sandbox.name, &trail).await?;
    Ok(StatusCode::NO_CONTENT)
}
