//! The layout of every page.

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
    visit::{FieldError, Question, Visit},
    words::Tone,
};
use worlds::sandboxes::{Name, Sandbox};

/// A page's success messages by key; `{}` is replaced by an argument.
pub type SuccessMessages = &'static [(&'static str, &'static str)];

/// The parts of a page around its body.
pub struct Frame {
    /// The page; `None` for error pages.
    page: Option<Page>,
    title: String,
    /// The gray line below the title.
    count: String,
    is_announced: bool,
    /// An action to the right of the title.
    action: Option<AnyView>,
    /// The interval for refreshing live parts, in ms.
    refresh_ms: Option<u32>,
    success_messages: SuccessMessages,
}

impl Frame {
    pub fn of(page: Page) -> Self {
        Self { page: Some(page), ..Self::titled(page.name()) }
    }

    pub fn titled(title: impl Into<String>) -> Self {
        Self {
            page: None,
            title: title.into(),
            count: String::new(),
            is_announced: false,
            action: None,
            refresh_ms: None,
            success_messages: &[],
        }
    }

    pub fn count(self, count: impl Into<String>) -> Self {
        Self { count: count.into(), ..self }
    }

    /// Makes screen readers announce changes of the line below the title.
    pub fn announced(self) -> Self {
        Self { is_announced: true, ..self }
    }

    pub fn action(self, action: AnyView) -> Self {
        Self { action: Some(action), ..self }
    }

    pub fn live(self, refresh_ms: u32) -> Self {
        Self { refresh_ms: Some(refresh_ms), ..self }
    }

    pub fn success_messages(self, success_messages: SuccessMessages) -> Self {
        Self { success_messages, ..self }
    }
}

impl Visit {
    /// The success message that the query string asks for. A submitted form gets none: its address may have that of
    /// the form before.
    fn success_message(&self, messages: SuccessMessages) -> Option<String> {
        if self.sent.all().next().is_some() {
            return None;
        }
        let key = self.query.text("done");
        let (_, message) = messages.iter().find(|message| message.0 == key)?;
        let argument: String = self.query.text("what").chars().take(100).collect();
        Some(message.replace("{}", &argument))
    }

    /// A page that asks `question` before the submitted form of `page` is performed.
    pub fn ask(&self, page: Page, question: Question<'_>) -> Response {
        let Question { title, consequence, yes } = question;
        let frame = Frame { page: Some(page), ..Frame::titled(title) };
        self.page(frame, || {
            let fields = self.sent.all().chain([("confirmed", "yes")]).map(|(name, value)| {
                let (name, value) = (name.to_owned(), value.to_owned());
                view! { <input type="hidden" name=name value=value /> }
            });
            let fields = fields.collect_view();
            view! {
                <section class="card in stack" aria-label="Confirmation">
                    <p>{consequence.to_owned()}</p>
                    <form method="post" class="row" action=page.address()>
                        {fields}
                        <button class="btn danger">{yes.to_owned()}</button>
                        <a class="btn" href=page.address()>"Cancel"</a>
                    </form>
                </section>
            }
        })
    }

    /// Renders the page, with status 200 or the status of the error.
    pub fn page<B: IntoView>(&self, frame: Frame, body: impl FnOnce() -> B) -> Response {
        let status = self.error.as_ref().map_or(StatusCode::OK, FieldError::status);
        (status, self.html(frame, body)).into_response()
    }

    /// Renders the page, for an answer that has a status already.
    pub fn html<B: IntoView>(&self, frame: Frame, body: impl FnOnce() -> B) -> Html<String> {
        Owner::new().with(|| {
            provide_context(self.sandbox.clock.zone().clone());
            around(self, frame, body().into_any())
        })
    }
}

/// Separate from [`Visit::html`], so that it is compiled once, not for each type of body.
fn around(visit: &Visit, frame: Frame, body: AnyView) -> Html<String> {
    let Frame { page, title, count, is_announced, action, refresh_ms, success_messages } = frame;
    let role = is_announced.then_some("status");
    let message = visit.success_message(success_messages);
    let message = message.map(|message| done("done", message));
    // The body is rendered by now, so an error that no field has shown is known.
    let error = visit.error.as_ref().filter(|_| !visit.is_error_shown.load(Ordering::Relaxed));
    let error = error.map(|error| note(Tone::Bad, "alert", "error", error.failure.to_string()));
    let content = view! {
        <header class="bar">
            <details class="menu">
                <summary aria-label="Menu">{Icon::MENU.view()}</summary>
                <nav aria-label="Console pages">{entries(visit, page)}</nav>
            </details>
            {brand(&visit.sandbox)}
            {switch(visit)}
            {portal_link(&visit.sandbox)}
            <form method="post" action="/console/sign-out">
                <input type="hidden" name="csrf" value=visit.csrf.clone() />
                <button class="btn quiet">{Icon::SIGN_OUT.view()}<span>"Sign out"</span></button>
            </form>
        </header>
        <div class="frame">
            <nav class="side" aria-label="Console">{entries(visit, page)}</nav>
            <main id="main" tabindex="-1" data-refresh-ms=refresh_ms.map(|ms| ms.to_string())>
                <div class="head">
                    <div>
                        <h1>{title.clone()}</h1>
                        <p class="muted" id="count" role=role data-live="">{count}</p>
                    </div>
                    {action.map(|action| view! { <div class="push">{action}</div> })}
                </div>
                {message}
                {error}
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
    document(&visit.sandbox, &title, content.into_any())
}

/// The sign-in page. After signing in, it redirects to `requested_page`.
pub fn sign_in_page(sandbox: &Sandbox, requested_page: &str, error: Option<String>) -> Html<String> {
    let was_refused = error.is_some();
    let error = error.map(|error| view! { <p class="error" id="token-error" role="alert">{error}</p> });
    let described_by = if was_refused { "token-error token-hint" } else { "token-hint" };
    let hint = if !sandbox.is_main() {
        "The token that was given out when this sandbox was made, or the operator's."
    } else if sandbox.settings.console_token.is_some() {
        "The value of MKOPO_CONSOLE_TOKEN in this deployment."
    } else {
        "The server prints a link with the token at start and stores it as console.token in the data folder."
    };
    let form = view! {
        <form method="post" action="/console/sign-in" class="stack">
            <input type="hidden" name="page" value=requested_page.to_owned() />
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
                    aria-invalid=was_refused.then_some("true")
                />
                {error}
                <p class="hint" id="token-hint">{hint}</p>
            </div>
            <button class="btn main wide">"Sign in"</button>
        </form>
    };
    let text = "Enter the console token to continue.".to_owned();
    gate(sandbox, "Sign in", "Sign in to the console", text, Some(form.into_any()))
}

/// A page that shows a failure to somebody whose sign-in could not be checked.
pub fn failure_page(sandbox: &Sandbox, text: String) -> Html<String> {
    gate(sandbox, "Something went wrong", "Something went wrong", text, None)
}

/// The page of a sign-in link. The script submits its form at once if it `submits`.
pub fn redeem_page(sandbox: &Sandbox, requested_page: &str, token: &str, submits: bool) -> Html<String> {
    let form = view! {
        <form
            method="post"
            action="/console/sign-in"
            class="stack"
            data-redeem=""
            data-submit=submits.then_some("")
        >
            <input type="hidden" name="page" value=requested_page.to_owned() />
            <input type="hidden" name="token" value=token.to_owned() />
            <button class="btn main wide">"Sign in"</button>
        </form>
    };
    let text = "This link contains the console token.".to_owned();
    gate(sandbox, "Sign in", "Sign in to the console", text, Some(form.into_any()))
}

/// A page for somebody who is not signed in.
fn gate(
    sandbox: &Sandbox,
    title: &str,
    heading: &'static str,
    text: String,
    form: Option<AnyView>,
) -> Html<String> {
    Owner::new().with(|| {
        let content = view! {
            <header class="bar">{brand(sandbox)}</header>
            <main id="main" class="gate" tabindex="-1">
                <div class="card in">
                    <h1>{heading}</h1>
                    <p class="muted">{text}</p>
                    {form}
                </div>
            </main>
        };
        document(sandbox, title, content.into_any())
    })
}

fn document(sandbox: &Sandbox, title: &str, content: AnyView) -> Html<String> {
    let brand = &sandbox.settings.brand;
    let title = if sandbox.is_main() {
        format!("{title} · {brand} console")
    } else {
        format!("{title} · {} · {brand} console", sandbox.name)
    };
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
                {content}
            </body>
        </html>
    };
    // The marks `<!>` between views are for hydration, and would show in the page's title. Text has no `<`.
    Html(format!("<!DOCTYPE html>{}", page.to_html().replace("<!>", "")))
}

fn brand(sandbox: &Sandbox) -> AnyView {
    view! {
        <a class="brand" href="/console">
            <span class="mark">{Icon::SEND.view()}</span>
            <span class="name">{sandbox.settings.brand.clone()}</span>
            <span class="tag wait">"Console"</span>
            {(!sandbox.is_main()).then(|| view! { <span class="tag">{sandbox.name.to_string()}</span> })}
        </a>
    }
    .into_any()
}

/// The link to the portal, if this deployment has one.
fn portal_link(sandbox: &Sandbox) -> AnyView {
    let settings = &sandbox.settings;
    if !sandbox.is_main() {
        let address = sandbox.server.sandboxes.addresses.portal(&sandbox.name);
        return view! { <a class="btn quiet push" href=address>"Portal"</a> }.into_any();
    }
    if settings.public_url.is_none() && settings.portal_dir.is_none() {
        return view! { <span class="push"></span> }.into_any();
    }
    view! { <a class="btn quiet push" href=settings.portal_address()>"Portal"</a> }.into_any()
}

/// The name of this sandbox, and the menu of others.
fn switch(visit: &Visit) -> Option<AnyView> {
    if !visit.has_sandboxes() {
        return None;
    }
    let name = &visit.sandbox.name;
    let main = Name::main();
    let others = std::iter::once(&main).chain(&visit.sandboxes).filter(|other| *other != name);
    let links =
        others.map(|other| view! { <a href=open_address(other)>{other.to_string()}</a> }).collect_view();
    Some(
        view! {
            <details class="switch">
                <summary>"Sandbox " <b>{name.to_string()}</b></summary>
                <nav aria-label="Sandboxes">
                    {links} <a href=Page::Sandboxes.address()>"All sandboxes"</a>
                </nav>
            </details>
        }
        .into_any(),
    )
}

/// The address that opens the console of another sandbox.
pub fn open_address(name: &Name) -> String {
    format!("/console/open?sandbox={name}")
}

fn entries(visit: &Visit, current: Option<Page>) -> AnyView {
    Page::ALL
        .iter()
        .copied()
        .filter(|page| *page != Page::Sandboxes || visit.has_sandboxes())
        .map(|page| {
            let aria_current = (current == Some(page)).then_some("page");
            view! { <a href=page.address() aria-current=aria_current>{page.icon().view()}{page.name()}</a> }
        })
        .collect_view()
        .into_any()
}

/// A card with a title; `id` is that of no other card on the page.
pub fn card(id: &'static str, title: &'static str, body: impl IntoView + 'static) -> AnyView {
    let title_id = format!("{id}-title");
    let labelled_by = title_id.clone();
    view! {
        <section class="card" aria-labelledby=labelled_by>
            <div class="top"><h2 id=title_id>{title}</h2></div>
            {body.into_any()}
        </section>
    }
    .into_any()
}

/// A card with a list that is refreshed, and with the form to filter it.
pub fn list_card(
    label: &'static str,
    id: &'static str,
    search_form: Option<AnyView>,
    list: impl IntoView + 'static,
) -> AnyView {
    view! {
        <section class="card" aria-label=label>
            {search_form}
            <div id=id data-live="">{list.into_any()}</div>
        </section>
    }
    .into_any()
}

/// A highlighted line at the top of a page.
pub fn note(tone: Tone, role: &'static str, id: &'static str, text: String) -> AnyView {
    let (class, icon) = tone.class_and_icon();
    view! { <p class=format!("note {class}") role=role id=id>{icon}{text}</p> }.into_any()
}

/// The note on an act that is done. It gets the focus: screen readers do not announce what a page is loaded with.
pub fn done(id: &'static str, text: String) -> AnyView {
    view! { <p class="note good" role="status" id=id tabindex="-1" autofocus=true>{Icon::SUCCESS.view()}{text}</p> }
        .into_any()
}

/// The placeholder for a list without rows, and the body of error pages.
pub fn empty_state(icon: Icon, title: &'static str, text: impl Into<String>) -> AnyView {
    view! {
        <div class="state">
            <span class="dot">{icon.view()}</span>
            <b>{title}</b>
            <p class="muted">{text.into()}</p>
        </div>
    }
    .into_any()
}
