//! Giving a call the faults that are for it.

use std::time::Duration;

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use futures::{StreamExt, stream};

use super::{Fault, FaultPhase, Kind, draw};
use crate::{
    Sandbox,
    error::{Failure, FailureFormat},
    http::{connections::Cut, edge, extract::whole},
};

/// How long half an answer is given to leave, before the connection is cut.
const FLUSHED_AFTER: Duration = Duration::from_millis(50);

/// What a call was given, for who writes it down.
#[derive(Clone, Copy, Debug)]
pub struct Hit(pub Kind);

/// Gives a call its faults.
pub async fn inject(sandbox: &Sandbox, form: &FailureFormat, mut request: Request, next: Next) -> Response {
    let standing = sandbox.faults.of(request.method(), request.uri().path());
    if standing.is_empty() || request.method() == Method::OPTIONS {
        return next.run(request).await;
    }
    let hit = match draw(sandbox, standing).await {
        Ok(hit) => hit,
        Err(failure) => return failure.into_response(),
    };
    let Some(last) = hit.last().cloned() else { return next.run(request).await };
    if matches!(last.kind, Kind::Truncate | Kind::Malformed) {
        // What is compressed can't be half of a text.
        request.headers_mut().remove(header::ACCEPT_ENCODING);
    }
    wait(sandbox, &hit, FaultPhase::Before).await;
    let mut response = if last.kind != Kind::Latency && last.phase == FaultPhase::Before {
        StatusCode::SERVICE_UNAVAILABLE.into_response()
    } else {
        next.run(request).await
    };
    wait(sandbox, &hit, FaultPhase::After).await;
    edge::write_failure(&mut response, form);
    let mut response = broken(&last, response).await;
    response.extensions_mut().insert(Hit(last.kind));
    response
}

async fn wait(sandbox: &Sandbox, hit: &[Fault], phase: FaultPhase) {
    for fault in hit.iter().filter(|fault| fault.phase == phase) {
        let ms = fault.ms.unwrap_or_default().unsigned_abs();
        sandbox.clock.sleep(Duration::from_millis(ms)).await;
    }
}

/// The answer with what `fault` does to it.
async fn broken(fault: &Fault, mut response: Response) -> Response {
    match fault.kind {
        Kind::Latency => response,
        Kind::Status => {
            let status =
                fault.status.and_then(|status| StatusCode::from_u16(u16::try_from(status).ok()?).ok());
            Failure::Injected(status.unwrap_or(StatusCode::SERVICE_UNAVAILABLE)).into_response()
        }
        Kind::Drop => {
            response.extensions_mut().insert(Cut::Closed);
            response
        }
        Kind::Reset => {
            response.extensions_mut().insert(Cut::Reset);
            response
        }
        Kind::Truncate => truncated(response).await,
        Kind::Malformed => malformed(response).await,
    }
}

/// Announces the whole body, sends half of it, and cuts the connection.
async fn truncated(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let bytes = whole(body).await;
    parts.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    let half = bytes.slice(..bytes.len() / 2);
    let cut = async {
        // What was written is sent on when there is nothing more to write just now.
        tokio::time::sleep(FLUSHED_AFTER).await;
        Err(std::io::Error::from(std::io::ErrorKind::ConnectionAborted))
    };
    Response::from_parts(parts, Body::from_stream(stream::iter([Ok(half)]).chain(stream::once(cut))))
}

/// The same body without its end: whole for HTTP, and no JSON. Where there is no body, nothing
/// can be wrong with it.
async fn malformed(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let mut bytes = whole(body).await.to_vec();
    if bytes.pop().is_some() {
        bytes.push(b',');
    }
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.remove(header::ETAG);
    Response::from_parts(parts, Body::from(bytes))
}
