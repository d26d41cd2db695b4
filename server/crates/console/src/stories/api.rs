//! The API of stories.

use std::sync::Arc;

use axum::{
    Extension, Json as Answer, Router,
    http::{StatusCode, header},
    middleware,
    response::{IntoResponse, Response},
    routing::{delete, get, post},
};
use serde::Serialize;

use super::{
    BadFile, Progress, Stories, check, go_on,
    links::{self, Listed as ListedLink, MadeLink, NewLink},
    progress, schema,
};
use crate::refusal::ConsoleRefusal;
use base::error::Failure;
use lending::events::Trail;
use web::extract::{Json, Path};
use worlds::sandboxes::{Sandbox, hide_when_off};

/// The routes of links, which only the operator may call.
pub fn operators_routes() -> Router {
    Router::new()
        .route("/story-links", get(list_links).post(make_link))
        .route("/story-links/{id}", delete(revoke_link))
        .route_layer(middleware::from_fn(hide_when_off))
}

pub fn routes() -> Router {
    Router::new()
        .route("/stories", get(list))
        .route("/stories/schema.json", get(show_schema))
        .route("/story", get(show))
        .route("/story/next", post(next))
}

#[derive(Serialize)]
struct Listed {
    stories: Vec<ListedStory>,
    refused: Vec<BadFile>,
}

#[derive(Serialize)]
struct ListedStory {
    name: String,
    title: String,
    text: Option<String>,
    steps: usize,
}

async fn list(Extension(stories): Extension<Arc<Stories>>) -> Answer<Listed> {
    let (all, refused) = stories.all();
    let stories = all.iter().map(|file| ListedStory {
        name: file.name.clone(),
        title: file.story.title.0.clone(),
        text: file.story.text.clone(),
        steps: file.story.steps.len(),
    });
    Answer(Listed { stories: stories.collect(), refused })
}

async fn show_schema() -> Result<Response, Failure> {
    Ok(([(header::CONTENT_TYPE, "application/schema+json")], schema()?.to_string()).into_response())
}

async fn show(sandbox: Sandbox) -> Result<Answer<Progress>, Failure> {
    progress(&sandbox).await?.map(Answer).ok_or(ConsoleRefusal::NoStory.into())
}

async fn next(sandbox: Sandbox, trail: Trail) -> Result<Answer<Progress>, Failure> {
    go_on(&sandbox, None, &trail).await.map(Answer)
}

async fn list_links(main: Sandbox) -> Result<Answer<Vec<ListedLink>>, Failure> {
    let now = main.clock.unset_now();
    let all = links::all(&main.server).await?;
    Ok(Answer(all.into_iter().map(|link| link.listed(now)).collect()))
}

async fn make_link(
    sandbox: Sandbox,
    trail: Trail,
    Extension(stories): Extension<Arc<Stories>>,
    Json(new): Json<NewLink>,
) -> Result<(StatusCode, Answer<MadeLink>), Failure> {
    // Guests get the builds of `main`, so the story is checked with those.
    if !sandbox.is_main() {
        return Err(Failure::NotFound);
    }
    check(&sandbox, &stories.find(&new.story)?.story).await?;
    Ok((StatusCode::CREATED, Answer(links::make(&sandbox.server, new, &trail).await?)))
}

async fn revoke_link(main: Sandbox, trail: Trail, Path(id): Path<String>) -> Result<StatusCode, Failure> {
    links::revoke(&main.server, id.into(), &trail).await?;
    Ok(StatusCode::NO_CONTENT)
}
