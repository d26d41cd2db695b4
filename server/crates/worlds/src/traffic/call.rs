//! A recorded call: as it is stored, and as it is shown.

use std::{sync::Arc, time::Duration};

use axum::http::{Method, StatusCode};
use serde::Serialize;
use serde_json::Value;

use super::{body::KeptBody, headers::Headers, secrets::Secrets};
use crate::faults::FaultKind;
use base::clock::UnixMillis;
use contract::API;
use lending::auth::session::Session;

/// The memory that a call takes besides its address, headers and bodies, in bytes; rounded up.
const ENTRY_BYTES: usize = 512;

#[derive(Clone, Debug, Serialize)]
pub struct Call {
    /// The number of the call on this server.
    pub id: u64,
    pub at: UnixMillis,
    pub method: String,
    pub path: String,
    /// The status of the response; `None` if there was no response.
    pub status: Option<u16>,
    pub ms: u64,
    /// The request id, as in the log.
    pub request_id: String,
    /// The e-mail address of the user, if signed in.
    pub user: Option<String>,
    pub request_body: Value,
    pub response_body: Value,
    pub fault: Option<FaultKind>,
}

/// A call as it is stored. It is converted to a [`Call`] only when someone reads it.
#[derive(Debug)]
pub struct Entry {
    /// Its number, in the order of the calls: [`Traffic::push`](super::Traffic::push) sets it.
    pub id: u64,
    pub at: UnixMillis,
    pub method: Method,
    /// Its path, without the API's.
    pub path: Box<str>,
    pub query: Option<Box<str>>,
    pub request_headers: Headers,
    pub request_body: KeptBody,
    /// The status of the response; `None` if there was no response.
    pub status: Option<StatusCode>,
    pub response_headers: Headers,
    pub response_body: KeptBody,
    pub took: Duration,
    /// The request id, as in the log.
    pub request_id: Arc<str>,
    /// The session of the user, if signed in.
    pub session: Option<Arc<Session>>,
    pub fault: Option<FaultKind>,
}

impl Entry {
    /// The whole path, which is not masked.
    pub fn full_path(&self) -> String {
        format!("{API}{}", self.path)
    }

    pub fn ms(&self) -> u64 {
        u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX)
    }

    pub fn user(&self) -> Option<&str> {
        self.session.as_ref().map(|session| session.staff.email.as_str())
    }

    /// The call as it is shown, without secrets.
    pub fn call(&self, secrets: &Secrets) -> Call {
        Call {
            id: self.id,
            at: self.at,
            method: self.method.to_string(),
            path: secrets.masked_path(&self.full_path()),
            status: self.status.map(|status| status.as_u16()),
            ms: self.ms(),
            request_id: self.request_id.to_string(),
            user: self.user().map(str::to_owned),
            request_body: self.request_body.shown(secrets),
            response_body: self.response_body.shown(secrets),
            fault: self.fault,
        }
    }

    /// The memory that it takes, in bytes.
    pub fn kept_bytes(&self) -> usize {
        let address = self.path.len() + self.query.as_ref().map_or(0, |query| query.len());
        let headers = self.request_headers.kept_bytes() + self.response_headers.kept_bytes();
        let bodies = self.request_body.kept_bytes() + self.response_body.kept_bytes();
        ENTRY_BYTES + address + headers + bodies
    }
}
