//! The browser that a call comes from, in words.

use axum::{
    extract::FromRequestParts,
    http::{header, request::Parts},
};

use base::error::Failure;

/// A text in the `User-Agent` and the browser's name. Most browsers also send the texts further down.
const BROWSERS: [(&str, &str); 7] = [
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
];

const SYSTEMS: [(&str, &str); 7] = [
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
];

/// A browser and its system, such as `Chrome on Windows`; `None` if the `User-Agent` names neither.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Browser(pub Option<String>);

impl Browser {
    fn named(user_agent: &str) -> Self {
        let find = |names: &[(&str, &'static str)]| {
            names.iter().find(|(mark, _)| user_agent.contains(mark)).map(|(_, name)| *name)
        };
        // Almost all other browsers send Safari's text too.
        let browser = find(&BROWSERS).or_else(|| user_agent.contains("Safari/").then_some("Safari"));
        Self(match (browser, find(&SYSTEMS)) {
            (Some(browser), Some(system)) => Some(format!("{browser} on {system}")),
            (Some(name), None) | (None, Some(name)) => Some(name.to_owned()),
            (None, None) => None,
        })
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Browser {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let user_agent = parts.headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
        Ok(user_agent.map_or_else(Self::default, Self::named))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_and_systems_are_told_apart() {
        for (user_agent, name) in [
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 \
                 Safari/537.36",
                Some("Chrome on Windows"),
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 \
                 Safari/537.36 Edg/141.0.0.0",
                Some("Edge on Windows"),
            ),
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0",
                Some("Firefox on Linux"),
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/18.6 Mobile/15E148 Safari/604.1",
                Some("Safari on iPhone"),
            ),
            (
                "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile \
                 Safari/537.36",
                Some("Chrome on Android"),
            ),
            ("curl/8.14.1", None),
            ("", None),
        ] {
            assert_eq!(Browser::named(user_agent).0.as_deref(), name, "{user_agent}");
        }
    }
}
