//! A browser on the console's pages, without scripts.

use axum::{
    body::Body,
    http::{Request, header},
};

use crate::test_app::{Answer, TestApp};

/// A browser that is signed in to the console.
pub struct Browser {
    app: TestApp,
    pub cookie: String,
}

impl Browser {
    /// A service, and a browser that is signed in to its console.
    pub async fn start() -> (TestApp, Self) {
        let app = TestApp::start().await;
        let browser = Self::sign_in(&app).await;
        (app, browser)
    }

    pub async fn sign_in(app: &TestApp) -> Self {
        let answer = app.send(post("/console/sign-in", None, &[("token", &*app.console_token)])).await;
        assert_eq!(answer.status, 303);
        Self { app: app.clone(), cookie: cookie_of(&answer) }
    }

    /// The addresses and titles of all pages, from the navigation.
    pub async fn pages(&self) -> Vec<(String, String)> {
        let start = self.get("/console").await;
        let (_, nav) = html(&start).split_once("aria-label=\"Console\"").unwrap();
        let links = nav.split_once("</nav>").unwrap().0.split("<a href=\"").skip(1);
        let page = |link: &str| {
            let (address, rest) = link.split_once('"').unwrap();
            let title = rest.split_once("</svg>").unwrap().1.split_once("</a>").unwrap().0;
            (address.to_owned(), title.to_owned())
        };
        let pages: Vec<_> = links.map(page).collect();
        assert!(pages.len() > 10, "{pages:?}");
        pages
    }

    pub async fn get(&self, address: &str) -> Answer {
        self.app.send(get(address, Some(&self.cookie))).await
    }

    /// The text of an existing page.
    pub async fn read(&self, address: &str) -> String {
        let answer = self.get(address).await;
        assert_eq!(answer.status, 200, "{address}");
        words(&answer)
    }

    /// Submits a form of the page at `address` with the given input.
    pub async fn send(&self, address: &str, act: &str, typed: &[(&str, &str)]) -> Answer {
        let csrf = csrf(&self.get(address).await);
        self.send_as(address, &[&[("csrf", csrf.as_str()), ("act", act)], typed].concat()).await
    }

    pub async fn send_as(&self, address: &str, fields: &[(&str, &str)]) -> Answer {
        self.app.send(post(address, Some(&self.cookie), fields)).await
    }

    /// Submits a form that must succeed; returns the text of the next page.
    pub async fn done(&self, address: &str, act: &str, typed: &[(&str, &str)]) -> String {
        let answer = self.send(address, act, typed).await;
        assert_eq!(answer.status, 303, "{address} {act} {typed:?}: {}", words(&answer));
        let next = answer.headers[header::LOCATION].to_str().unwrap();
        assert!(next.starts_with(address), "{next}");
        self.read(next).await
    }
}

pub fn get(address: &str, cookie: Option<&str>) -> Request<Body> {
    let mut request = Request::get(address);
    if let Some(cookie) = cookie {
        request = request.header(header::COOKIE, format!("theme=dark; {cookie}"));
    }
    request.body(Body::empty()).unwrap()
}

pub fn post(address: &str, cookie: Option<&str>, fields: &[(&str, &str)]) -> Request<Body> {
    let mut request =
        Request::post(address).header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    if let Some(cookie) = cookie {
        request = request.header(header::COOKIE, cookie);
    }
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    request.body(Body::from(body)).unwrap()
}

/// The cookie that an answer sets, as a browser sends it back.
pub fn cookie_of(answer: &Answer) -> String {
    let cookie = answer.headers[header::SET_COOKIE].to_str().unwrap();
    cookie.split_once(';').unwrap().0.to_owned()
}

pub fn html(answer: &Answer) -> &str {
    std::str::from_utf8(&answer.bytes).unwrap()
}

pub fn csrf(answer: &Answer) -> String {
    let (_, rest) = html(answer).split_once("name=\"csrf\" value=\"").unwrap();
    rest.split_once('"').unwrap().0.to_owned()
}

/// The hidden fields of the first form in the main part of a page.
pub fn hidden_fields(answer: &Answer) -> Vec<(String, String)> {
    let (_, form) = html(answer).split_once("<main").unwrap().1.split_once("<form").unwrap();
    let form = form.split_once("</form>").unwrap().0;
    let value_of = |input: &str, name: &str| {
        let (_, rest) = input.split_once(&format!("{name}=\"")).unwrap();
        rest.split_once('"').unwrap().0.to_owned()
    };
    let inputs = form.split("<input ").skip(1).filter(|input| input.starts_with("type=\"hidden\""));
    inputs.map(|input| (value_of(input, "name"), value_of(input, "value"))).collect()
}

/// The fields of the first form of a page that contains `part`, as a browser sends them if nothing is typed.
pub fn form<'a>(answer: &'a Answer, part: &str) -> Vec<(&'a str, &'a str)> {
    let mut forms = html(answer).split("<form").skip(1).filter_map(|form| form.split("</form>").next());
    let form = forms.find(|form| form.contains(part)).unwrap();
    let (mut fields, mut select) = (Vec::new(), "");
    for tag in form.split('<') {
        if tag.starts_with("input ") {
            fields.push((attribute(tag, "name").unwrap(), attribute(tag, "value").unwrap_or_default()));
        } else if tag.starts_with("select ") {
            select = attribute(tag, "name").unwrap();
        } else if tag.starts_with("option ") && tag.contains(" selected") {
            fields.push((select, attribute(tag, "value").unwrap()));
        }
    }
    fields
}

/// The fields of [`form`], with those that the page's script adds once a person has confirmed.
pub fn confirmed<'a>(answer: &'a Answer, part: &str) -> Vec<(&'a str, &'a str)> {
    [form(answer, part), vec![("confirmed", "yes")]].concat()
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split('"').next()
}

/// The visible text of a page, with single spaces.
pub fn words(answer: &Answer) -> String {
    let inside = html(answer).split_once("<main").map_or(html(answer), |page| page.1);
    let mut text = String::new();
    let mut is_tag = true;
    for letter in inside.chars() {
        match letter {
            '<' => is_tag = true,
            '>' => {
                is_tag = false;
                text.push(' ');
            }
            letter if !is_tag => text.push(letter),
            _ => {}
        }
    }
    let text = text.replace("&#x27;", "'").replace("&quot;", "\"").replace("&amp;", "&");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
