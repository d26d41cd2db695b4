//! Pages of a list, for callers with very long lists. Pages are not cached.

use axum::{
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::Deserialize;

use super::{Place, Row};
use base::{clock::UnixMillis, error::Failure};
use store::{Database, query_as};
use web::ready_body::ReadyBody;

#[derive(Debug, Default, Deserialize)]
pub struct PageQuery {
    limit: Option<u32>,
    cursor: Option<String>,
}

#[derive(Debug)]
pub struct WantedPage {
    limit: u32,
    after: Place,
}

impl PageQuery {
    const MAX_LIMIT: u32 = 1000;

    /// The first `limit` rows, or the `limit` rows after `cursor`.
    pub fn of(limit: u32, cursor: Option<&str>) -> Self {
        Self { limit: Some(limit), cursor: cursor.map(str::to_owned) }
    }

    pub fn wanted(&self) -> Result<Option<WantedPage>, Failure> {
        let Some(limit) = self.limit else {
            return match self.cursor {
                Some(_) => Err(Failure::BadParameter("cursor requires limit".to_owned())),
                None => Ok(None),
            };
        };
        if !(1..=Self::MAX_LIMIT).contains(&limit) {
            let text = format!("limit must be from 1 to {}", Self::MAX_LIMIT);
            return Err(Failure::BadParameter(text));
        }
        let after = match &self.cursor {
            Some(cursor) => Place::from_cursor(cursor)
                .ok_or_else(|| Failure::BadParameter("cursor is not from a Link header".to_owned()))?,
            None => Place { at: UnixMillis(i64::MAX), id: "".into() },
        };
        Ok(Some(WantedPage { limit, after }))
    }
}

impl Place {
    fn cursor(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(format!("{} {}", self.at.0, self.id))
    }

    fn from_cursor(cursor: &str) -> Option<Self> {
        let place = String::from_utf8(BASE64_URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
        let (at, id) = place.split_once(' ').filter(|_| !place.contains('\0'))?;
        Some(Self { at: UnixMillis(at.parse().ok()?), id: id.into() })
    }
}

/// The rows of a page, and the cursor of the next page if there is one.
pub async fn read<R: Row>(
    database: &Database,
    page: &WantedPage,
) -> Result<(Vec<R>, Option<String>), Failure> {
    let mut reader = database.read().await?;
    let limit = page.limit as usize;
    let mut rows: Vec<R> = query_as(R::PAGE)
        .bind_all((page.after.at, &page.after.id))
        // One more row shows whether there is another page.
        .bind(i64::from(page.limit) + 1)
        .fetch_all(&mut reader)
        .await?;
    let is_last = rows.len() <= limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| !is_last).map(|last| last.place().cursor());
    Ok((rows, next))
}

pub async fn answer<R: Row>(
    database: &Database,
    path: &str,
    page: &WantedPage,
    headers: &HeaderMap,
) -> Result<Response, Failure> {
    let (rows, next) = read::<R>(database, page).await?;
    let json = serde_json::to_vec(&rows).map_err(Failure::internal)?;
    let mut response = ReadyBody::new("application/json", json.into())?.answer_plain(headers);
    if let Some(next) = next {
        let next = format!("<{path}?limit={}&cursor={next}>; rel=\"next\"", page.limit);
        let next = HeaderValue::from_str(&next).map_err(Failure::internal)?;
        response.headers_mut().insert(header::LINK, next);
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_round_trips() {
        for id in ["LN-2026-00917", "", "a b", "Ünïcode"] {
            let place = Place { at: UnixMillis(-1_795_262_400_000), id: id.into() };
            assert_eq!(Place::from_cursor(&place.cursor()), Some(place));
        }
    }
}
