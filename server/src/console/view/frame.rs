//! What stands around every page.

use std::sync::atomic::Ordering;

use axum::{
    http::StatusCode,
    response::{Html, IntoResponse, Response},
};
use leptos::prelude::*;

use super::{
    files,
    icon::Icon,
    page::Page,
    visit::{FieldError, Visit},
    words::Tone,
};
use crate::Sandbox;

/// What a page says of what was done, by name; `{}` stands for what it was done with.
pub type Sentences = &'static [(&'static str, &'static str)];

/// A page without its body.
pub struct Frame {
    /// Which one it is; none is beside all.
    page: Option<Page>,
    title: String,
    /// The grey line under the title.
    count: String,
    is_announced: bool,
    /// The page's one main action, if it stands at the right of the title.
    action: Option<AnyView>,
    /// How often what is live is looked at again, in ms.
    every: Option<u32>,
    /// What the page says of what was done.
    pub sentences: Sentences,
}

impl Frame {
    /// The frame of `page`.
    pub fn of(page: Page) -> Self {
        Self { page: Some(page), ..Self::beside(page.name()) }
    }

    /// The frame of what is none of the pages.
    pub fn beside(title: impl Into<String>) -> Self {
        Self {
            page: None,
            title: title.into(),
            count: String::new(),
            is_announced: false,
            action: None,
            every: None,
            sentences: &[],
        }
    }

    /// With a grey line under the title.
    pub fn count(self, count: impl Into<String>) -> Self {
        Self { count: count.into(), ..self }
    }

    /// With that line read out when it changes.
    pub fn announced(self) -> Self {
        Self { is_announced: true, ..self }
    }

    /// With an action at the right of the title.
    pub fn action(self, action: AnyView) -> Self {
        Self { action: Some(action), ..self }
    }

    /// With what is live looked at again every so many ms.
    pub fn live(self, every: u32) -> Self {
        Self { every: Some(every), ..self }
    }

    /// With what it says of what was done.
    pub fn sentences(self, sentences: Sentences) -> Self {
        Self { sentences, ..self }
    }
}

impl Visit {
    /// The sentence that the address asks for.
    fn said(&self, sentences: Sentences) -> Option<String> {
        let name = self.query.text("done");
        let (_, sentence) = sentences.iter().find(|sentence| sentence.0 == name)?;
        let what: String = self.query.text("what").chars().take(100).collect();
        Some(sentence.replace("{}", &what))
    }

    /// The page, with status 200, or with that of what was refused.
    pub fn page(&self, frame: Frame, body: impl FnOnce() -> AnyView) -> Response {
        let status = self.refusal.as_ref().map_or(StatusCode::OK, FieldError::status);
        let said = self.said(frame.sentences);
        (status, html(self, frame, said, body)).into_response()
    }
}

/// The whole page for a visitor.
pub fn html(
    visit: &Visit,
    frame: Frame,
    said: Option<String>,
    body: impl FnOnce() -> AnyView,
) -> Html<String> {
    Owner::new().with(|| {
        let Frame { page, title, count, is_announced, action, every, .. } = frame;
        let role = is_announced.then_some("status");
        let said = said.map(|said| note(Tone::Good, "status", "done", said));
        let body = body();
        // What no field of the page is to blame for.
        let refusal = visit.refusal.as_ref().filter(|_| !visit.is_refusal_shown.load(Ordering::Relaxed));
        let refused = refusal.map(|refusal| refusal.failure.to_string());
        let refused = refused.map(|refused| note(Tone::Bad, "alert", "refused", refused));
        let inside = view! {
            <header class="bar">
                <details class="menu">
                    <summary aria-label="Menu">{Icon::Menu.view()}</summary>
                    <nav aria-label="Console, narrow">{entries(page)}</nav>
                </details>
                {brand(&visit.sandbox)}
                <form class="push" method="post" action="/console/sign-out">
                    <input type="hidden" name="csrf" value=visit.csrf.clone() />
                    <button class="btn quiet">{Icon::SignOut.view()}"Sign out"</button>
                </form>
            </header>
            <div class="frame">
                <nav class="side" aria-label="Console">{entries(page)}</nav>
                <main id="main" tabindex="-1" data-every=every.map(|ms| ms.to_string())>
                    <div class="head">
                        <div>
                            <h1>{title.clone()}</h1>
                            <p class="muted" id="count" role=role data-live="">{count}</p>
                        </div>
                        {action.map(|action| view! { <div class="push">{action}</div> })}
                    </div>
                    {said}
                    {refused}
                    {body}
                </main>
            </div>
            <dialog class="dialog" aria-labelledby="question" aria-describedby="consequence">
                <h2 id="question"></h2>
                <p id="consequence"></p>
                <form method="dialog" class="acts">
                    <button class="btn" value="" autofocus=true>"Cancel"</button>
                    <button class="btn danger" value="yes">"Yes"</button>
                </form>
            </dialog>
        };
        document(&visit.sandbox, &title, inside.into_any())
    })
}

/// The page for somebody who is not let in yet: how to get in, and nothing else.
pub fn closed(sandbox: &Sandbox, wanted: &str, was_wrong: bool) -> Html<String> {
    Owner::new().with(|| {
        let error = was_wrong.then(|| {
            view! { <p class="error" id="token-error" role="alert">"That is not the console's token."</p> }
        });
        let described_by = if was_wrong { "token-error token-hint" } else { "token-hint" };
        let hint = if sandbox.settings.console_token.is_some() {
            "It is what this deployment has set as MKOPO_CONSOLE_TOKEN."
        } else {
            "The start of the service prints a link with it; it is also kept in the data folder, as console.token."
        };
        let inside = view! {
            <header class="bar">{brand(sandbox)}</header>
            <main id="main" class="gate" tabindex="-1">
                <div class="card in">
                    <h1>"Sign in to the console"</h1>
                    <p class="muted">"It opens with its token."</p>
                    <form method="post" action="/console/sign-in" class="stack">
                        <input type="hidden" name="page" value=wanted.to_owned() />
                        <div class="field">
                            <label for="token">"Token"</label>
                            <input
                                id="token"
                                name="token"
                                type="password"
                                autocomplete="current-password"
                                required=true
                                autofocus=true
                                aria-describedby=described_by
                                aria-invalid=was_wrong.then_some("true")
                            />
                            {error}
                            <p class="hint" id="token-hint">{hint}</p>
                        </div>
                        <button class="btn main wide">"Sign in"</button>
                    </form>
                </div>
            </main>
        };
        document(sandbox, "Sign in", inside.into_any())
    })
}

fn document(sandbox: &Sandbox, title: &str, inside: AnyView) -> Html<String> {
    let title = format!("{title} · {} console", sandbox.settings.brand);
    let demo = sandbox
        .settings
        .demo
        .then(|| view! { <p class="demo">"Demo: the data is invented and no money moves."</p> });
    let page = view! {
        <html lang="en">
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="robots" content="noindex" />
                <meta name="color-scheme" content="light dark" />
                <title>{title}</title>
                <link rel="icon" href=files::ICON />
                <link rel="stylesheet" href=files::STYLE />
                <script src=files::SCRIPT defer=true></script>
            </head>
            <body>
                <a class="skip" href="#main">"Skip to content"</a>
                {demo}
                {inside}
            </body>
        </html>
    };
    Html(format!("<!DOCTYPE html>{}", page.to_html()))
}

fn brand(sandbox: &Sandbox) -> AnyView {
    view! {
        <a class="brand" href="/console">
            <span class="mark">{Icon::Send.view()}</span>
            {sandbox.settings.brand.clone()}
            <span class="tag wait">"Console"</span>
        </a>
    }
    .into_any()
}

fn entries(current: Option<Page>) -> AnyView {
    Page::ALL
        .into_iter()
        .map(|page| {
            let here = (current == Some(page)).then_some("page");
            view! { <a href=page.address() aria-current=here>{page.icon().view()}{page.name()}</a> }
        })
        .collect_view()
        .into_any()
}

/// A line on top of a page that says what became of something.
pub fn note(tone: Tone, role: &'static str, id: &'static str, text: String) -> AnyView {
    let class = format!("note {}", tone.class());
    view! { <p class=class role=role id=id>{tone.icon().map(Icon::view)}{text}</p> }.into_any()
}

/// What stands where a list has no rows.
pub fn nothing(icon: Icon, line: &'static str, more: impl Into<String>) -> AnyView {
    view! {
        <div class="state">
            <span class="dot">{icon.view()}</span>
            <b>{line}</b>
            <p class="muted">{more.into()}</p>
        </div>
    }
    .into_any()
}
