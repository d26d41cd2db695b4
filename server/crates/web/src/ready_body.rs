//! A response body that is sent many times: compressed once per requested encoding, with an `ETag`,
//! so that clients that have it already receive a 304.

use std::io::Write;

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use sha2::{Digest as _, Sha256};
use tokio::sync::OnceCell;

use super::accept;
use base::error::Failure;

/// Identifies content: equal digests mean equal content.
pub type Digest = [u8; 16];

fn digest(content: &[u8]) -> Digest {
    let mut digest = Digest::default();
    let bytes = digest.len();
    digest.copy_from_slice(&Sha256::digest(content)[..bytes]);
    digest
}

/// The encodings of a body, the best first. If a client accepts several equally, zstd is used: it
/// compresses to a seventh of the size, in a tenth of the time that the others take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Zstd,
    Brotli,
    Gzip,
    Identity,
}

impl Encoding {
    const ALL: [Self; 4] = [Self::Zstd, Self::Brotli, Self::Gzip, Self::Identity];

    fn name(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Brotli => "br",
            Self::Gzip => "gzip",
            Self::Identity => "identity",
        }
    }

    /// The encoding that the client prefers; [`Self::Identity`] if it accepts none of the others.
    fn preferred(headers: &HeaderMap) -> Self {
        let accepted: Vec<(&str, u16)> =
            accept::items(headers, header::ACCEPT_ENCODING).map(accept::quality).collect();
        let given = |name: &str| {
            let last = accepted.iter().rfind(|(its_name, _)| its_name.eq_ignore_ascii_case(name));
            last.map(|(_, quality)| *quality)
        };
        let quality = |encoding: &Self| given(encoding.name()).or_else(|| given("*")).unwrap_or(0);
        // Reversed, because the last of several that are accepted equally is taken.
        let possible = Self::ALL.into_iter().rev().filter(|encoding| quality(encoding) > 0);
        possible.max_by_key(quality).unwrap_or(Self::Identity)
    }

    fn encode(self, plain: &[u8]) -> std::io::Result<Vec<u8>> {
        match self {
            Self::Zstd => zstd::encode_all(plain, 1),
            Self::Brotli => {
                const BUFFER: usize = 64 * 1024;
                let mut encoder = brotli::CompressorWriter::new(Vec::new(), BUFFER, 4, 22);
                encoder.write_all(plain)?;
                Ok(encoder.into_inner())
            }
            Self::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(plain)?;
                encoder.finish()
            }
            Self::Identity => Ok(plain.to_vec()),
        }
    }
}

/// The body in one encoding.
#[derive(Debug)]
struct Encoded {
    bytes: Bytes,
    etag: HeaderValue,
}

impl Encoded {
    fn new(bytes: Bytes, digest: Digest, encoding: Encoding) -> Result<Self, Failure> {
        Ok(Self { bytes, etag: etag(digest, encoding)? })
    }
}

/// A body, uncompressed and in every encoding that was requested so far.
#[derive(Debug)]
pub struct ReadyBody {
    media_type: &'static str,
    digest: Digest,
    plain: Encoded,
    compressed: [OnceCell<Encoded>; 3],
}

impl ReadyBody {
    pub fn new(media_type: &'static str, plain: Bytes) -> Result<Self, Failure> {
        let digest = digest(&plain);
        let plain = Encoded::new(plain, digest, Encoding::Identity)?;
        Ok(Self { media_type, digest, plain, compressed: [const { OnceCell::const_new() }; 3] })
    }

    pub fn plain(&self) -> &Bytes {
        &self.plain.bytes
    }

    /// The digest of the uncompressed body.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Answers a GET: with the body in the preferred encoding, or with 304 if the client has it.
    pub async fn answer(&self, headers: &HeaderMap) -> Result<Response, Failure> {
        let encoding = Encoding::preferred(headers);
        Ok(self.respond(headers, encoding, self.encoded(encoding).await?))
    }

    /// Answers a GET like [`Self::answer`], but never compressed: for a body that is sent once.
    pub fn answer_plain(&self, headers: &HeaderMap) -> Response {
        self.respond(headers, Encoding::Identity, &self.plain)
    }

    fn respond(&self, headers: &HeaderMap, encoding: Encoding, encoded: &Encoded) -> Response {
        const REVALIDATE: HeaderValue = HeaderValue::from_static("private, no-cache");
        const VARY_BY_ENCODING: HeaderValue = HeaderValue::from_static("accept-encoding");
        let (status, body) = if client_has(headers, &encoded.etag) {
            (StatusCode::NOT_MODIFIED, Body::empty())
        } else {
            (StatusCode::OK, Body::from(encoded.bytes.clone()))
        };
        let mut response = (status, body).into_response();
        let response_headers = response.headers_mut();
        // Space for the headers that every response gets, too: growing the map hashes all of them again.
        response_headers.reserve(12);
        let mut set = |name: HeaderName, value| _ = response_headers.insert(name, value);
        set(header::ETAG, encoded.etag.clone());
        set(header::CACHE_CONTROL, REVALIDATE);
        set(header::VARY, VARY_BY_ENCODING);
        if status == StatusCode::OK {
            set(header::CONTENT_TYPE, HeaderValue::from_static(self.media_type));
            if encoding != Encoding::Identity {
                set(header::CONTENT_ENCODING, HeaderValue::from_static(encoding.name()));
            }
        }
        response
    }

    async fn encoded(&self, encoding: Encoding) -> Result<&Encoded, Failure> {
        let cell = match encoding {
            Encoding::Identity => return Ok(&self.plain),
            Encoding::Zstd => &self.compressed[0],
            Encoding::Brotli => &self.compressed[1],
            Encoding::Gzip => &self.compressed[2],
        };
        cell.get_or_try_init(async || {
            let plain = self.plain.bytes.clone();
            let bytes = tokio::task::spawn_blocking(move || encoding.encode(&plain)).await;
            let bytes = bytes.map_err(Failure::internal)?;
            let bytes = bytes.map_err(Failure::internal)?;
            Encoded::new(bytes.into(), self.digest, encoding)
        })
        .await
    }
}

/// The `ETag` of one encoding: a strong tag must differ when the bytes differ.
fn etag(digest: Digest, encoding: Encoding) -> Result<HeaderValue, Failure> {
    let digest = hex::encode(digest);
    let etag = match encoding {
        Encoding::Identity => format!("\"{digest}\""),
        encoding => format!("\"{digest}-{}\"", encoding.name()),
    };
    HeaderValue::from_str(&etag).map_err(Failure::internal)
}

fn client_has(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    accept::items(headers, header::IF_NONE_MATCH)
        .any(|known| known == "*" || known.trim_start_matches("W/").as_bytes() == etag.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preferred(accept_encoding: &str) -> &'static str {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_ENCODING, accept_encoding.parse().unwrap());
        Encoding::preferred(&headers).name()
    }

    #[test]
    fn the_most_preferred_encoding_is_chosen() {
        assert_eq!(preferred("gzip, deflate, br, zstd"), "zstd");
        assert_eq!(preferred("gzip, deflate, br"), "br");
        assert_eq!(preferred("gzip;q=1.0, br;q=0.5"), "gzip");
        assert_eq!(preferred("GZIP ; Q=0.1"), "gzip");
        assert_eq!(preferred("*"), "zstd");
        assert_eq!(preferred("zstd;q=0, *"), "br");
        assert_eq!(preferred("identity, gzip;q=0.5"), "identity");
    }

    #[test]
    fn without_a_supported_encoding_the_body_is_not_compressed() {
        assert_eq!(Encoding::preferred(&HeaderMap::new()), Encoding::Identity);
        for unsupported in ["", "deflate", "gzip;q=0", "*;q=0", "gzip;q=x", ",;,;q="] {
            assert_eq!(preferred(unsupported), "identity", "{unsupported}");
        }
    }

    #[test]
    fn every_encoding_decodes_to_the_body() {
        let plain: Vec<u8> = (0..50_000_u32).flat_map(|n| (n % 977).to_string().into_bytes()).collect();
        for encoding in Encoding::ALL {
            let encoded = encoding.encode(&plain).unwrap();
            assert_eq!(decode(encoding, &encoded), plain, "{}", encoding.name());
        }
    }

    fn decode(encoding: Encoding, encoded: &[u8]) -> Vec<u8> {
        use std::io::Read;
        let mut plain = Vec::new();
        match encoding {
            Encoding::Zstd => return zstd::decode_all(encoded).unwrap(),
            Encoding::Brotli => _ = brotli::Decompressor::new(encoded, 4096).read_to_end(&mut plain).unwrap(),
            Encoding::Gzip => _ = flate2::read::GzDecoder::new(encoded).read_to_end(&mut plain).unwrap(),
            Encoding::Identity => return encoded.to_vec(),
        }
        plain
    }
}
