//! The kept headers: those that answers depend on, and those that describe an answer.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

use super::secrets::{MASK, Secrets};

/// The longest header to keep, in bytes. For longer ones, only the size is kept.
const MAX_BYTES: usize = 512;

const OF_REQUEST: [HeaderName; 5] = [
    header::ACCEPT,
    header::AUTHORIZATION,
    header::CONTENT_TYPE,
    HeaderName::from_static("idempotency-key"),
    header::IF_NONE_MATCH,
];

const OF_RESPONSE: [HeaderName; 5] = [
    header::CONTENT_ENCODING,
    header::CONTENT_TYPE,
    header::ETAG,
    HeaderName::from_static("idempotent-replayed"),
    header::RETRY_AFTER,
];

/// The kept headers of a request or a response.
#[derive(Debug)]
pub struct Headers(Vec<(HeaderName, Box<str>)>);

impl Headers {
    pub fn of_request(headers: &HeaderMap) -> Self {
        Self::of(headers, OF_REQUEST)
    }

    pub fn of_response(headers: &HeaderMap) -> Self {
        Self::of(headers, OF_RESPONSE)
    }

    // Copied, because the original value keeps the whole head in memory.
    fn of<const N: usize>(headers: &HeaderMap, names: [HeaderName; N]) -> Self {
        let kept = names.into_iter().flat_map(|name| {
            headers.get_all(&name).into_iter().map(move |value| (name.clone(), kept(&name, value)))
        });
        Self(kept.collect())
    }

    pub fn kept_bytes(&self) -> usize {
        self.0.iter().map(|(_, value)| size_of::<(HeaderName, Box<str>)>() + value.len()).sum()
    }

    /// The first value of a header.
    pub fn get(&self, name: &HeaderName) -> Option<&str> {
        self.0.iter().find(|kept| kept.0 == *name).map(|kept| &*kept.1)
    }

    /// Names and values, with secrets and phone numbers masked.
    pub fn shown(&self, secrets: &Secrets) -> impl Iterator<Item = (&str, String)> {
        self.0.iter().map(|(name, value)| (name.as_str(), secrets.masked(value)))
    }
}

fn kept(name: &HeaderName, value: &HeaderValue) -> Box<str> {
    let bytes = value.as_bytes();
    if *name == header::AUTHORIZATION {
        let is_bearer = bytes.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"Bearer "));
        return if is_bearer { format!("Bearer {MASK}").into() } else { MASK.into() };
    }
    if bytes.len() > MAX_BYTES {
        return format!("[{} bytes]", bytes.len()).into();
    }
    String::from_utf8_lossy(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(sent: &[(&'static str, &str)]) -> HeaderMap {
        sent.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    #[test]
    fn of_the_authorization_only_the_kind_is_kept() {
        for (sent, kept) in [("Bearer abc", "Bearer •••"), ("bearer abc", "Bearer •••"), ("Basic abc", MASK)]
        {
            let kept_headers = Headers::of_request(&headers(&[("authorization", sent)]));
            assert_eq!(kept_headers.get(&header::AUTHORIZATION), Some(kept), "{sent}");
        }
    }

    #[test]
    fn of_a_long_header_only_the_size_is_kept_and_of_others_nothing() {
        let (whole, long) = ("x".repeat(MAX_BYTES), "x".repeat(MAX_BYTES + 1));
        let sent = [("accept", whole.as_str()), ("if-none-match", &long), ("cookie", "a=b")];
        let kept = Headers::of_request(&headers(&sent));
        assert_eq!(kept.get(&header::ACCEPT), Some(whole.as_str()));
        assert_eq!(kept.get(&header::IF_NONE_MATCH), Some("[513 bytes]"));
        assert_eq!(kept.get(&header::COOKIE), None);
        let each = size_of::<(HeaderName, Box<str>)>();
        assert_eq!(kept.kept_bytes(), 2 * each + MAX_BYTES + "[513 bytes]".len());
        let answered = Headers::of_response(&headers(&[("etag", "\"1\""), ("set-cookie", "a=b")]));
        assert_eq!((answered.get(&header::ETAG), answered.get(&header::SET_COOKIE)), (Some("\"1\""), None));
    }
}
