//! Forms, whose fields keep rejected input and show the error.

use std::sync::atomic::Ordering;

use leptos::prelude::*;

use super::visit::{SEARCH, Visit, shown_name};

pub const TIME_HINT: &str = "Such as 2026-11-14T12:00.";

pub struct Field {
    name: &'static str,
    label: &'static str,
    hint: &'static str,
    value: String,
    /// Whether the form also sends what the page showed.
    sends_shown: bool,
    control: Control,
}

enum Control {
    Input {
        input_type: Option<&'static str>,
        inputmode: Option<&'static str>,
        suggestions: &'static [&'static str],
    },
    /// A choice of one of these options, which are pairs of value and label.
    Choice(Vec<(String, String)>),
}

impl Field {
    pub fn text(name: &'static str, label: &'static str) -> Self {
        Self::typed(name, label, "text")
    }

    pub fn number(name: &'static str, label: &'static str) -> Self {
        let (input_type, inputmode) = (Some("text"), Some("numeric"));
        Self::with(name, label, Control::Input { input_type, inputmode, suggestions: &[] })
    }

    pub fn typed(name: &'static str, label: &'static str, input_type: &'static str) -> Self {
        let input_type = Some(input_type);
        Self::with(name, label, Control::Input { input_type, inputmode: None, suggestions: &[] })
    }

    pub fn suggesting(name: &'static str, label: &'static str, suggestions: &'static [&'static str]) -> Self {
        Self::with(name, label, Control::Input { input_type: None, inputmode: None, suggestions })
    }

    /// A field to choose one of `options`, which are pairs of value and label.
    pub fn choice<V: Into<String>, L: Into<String>>(
        name: &'static str,
        label: &'static str,
        options: impl IntoIterator<Item = (V, L)>,
    ) -> Self {
        let options = options.into_iter().map(|(value, label)| (value.into(), label.into()));
        Self::with(name, label, Control::Choice(options.collect()))
    }

    fn with(name: &'static str, label: &'static str, control: Control) -> Self {
        Self { name, label, hint: "", value: String::new(), sends_shown: false, control }
    }

    pub fn hint(self, hint: &'static str) -> Self {
        Self { hint, ..self }
    }

    pub fn value(self, value: impl Into<String>) -> Self {
        Self { value: value.into(), ..self }
    }

    /// Also sends what the page showed, for [`super::visit::Fields::changed`].
    pub fn sends_shown(self) -> Self {
        Self { sends_shown: true, ..self }
    }
}

impl Control {
    /// The element with this id. `described_by` has the ids of its error and its hint.
    fn view(
        self,
        id: String,
        name: &'static str,
        value: String,
        described_by: Option<String>,
        is_wrong: bool,
    ) -> AnyView {
        let invalid = is_wrong.then_some("true");
        match self {
            Self::Input { input_type, inputmode, suggestions } => {
                let list = (!suggestions.is_empty()).then(|| format!("{name}s"));
                let options = suggestions.iter().copied().map(|text| view! { <option value=text></option> });
                let options = options.collect_view();
                let suggested = list.clone().map(|id| view! { <datalist id=id>{options}</datalist> });
                view! {
                    <input
                        id=id
                        name=name
                        type=input_type
                        value=value
                        inputmode=inputmode
                        list=list
                        autocomplete="off"
                        spellcheck="false"
                        autofocus=is_wrong
                        aria-describedby=described_by
                        aria-invalid=invalid
                    />
                    {suggested}
                }
                .into_any()
            }
            Self::Choice(options) => view! {
                <select id=id name=name autofocus=is_wrong aria-describedby=described_by aria-invalid=invalid>
                    {selected(options, &value)}
                </select>
            }
            .into_any(),
        }
    }
}

/// The `options`, which are pairs of value and label, with the one of `value` selected. A rejected value that is none of
/// them is kept.
fn selected(options: Vec<(String, String)>, value: &str) -> AnyView {
    let is_known = options.iter().any(|option| option.0 == value);
    let unknown = (!is_known).then(|| (value.to_owned(), value.to_owned()));
    options
        .into_iter()
        .chain(unknown)
        .map(|(option, label)| {
            let is_selected = option == value;
            view! { <option value=option selected=is_selected>{label}</option> }
        })
        .collect_view()
        .into_any()
}

#[derive(Clone, Copy, Debug)]
pub enum Submit {
    Main(&'static str),
    Plain(&'static str),
    /// One that loses data. The page asks for confirmation once the fields are valid.
    Danger(&'static str),
}

impl Visit {
    /// The form `act`, in the layout of the CSS classes `class`.
    pub fn form<const FIELDS: usize>(
        &self,
        act: &'static str,
        class: &'static str,
        fields: [Field; FIELDS],
        submit: Submit,
    ) -> AnyView {
        let (button_class, label) = match submit {
            Submit::Main(label) => ("btn main", label),
            Submit::Plain(label) => ("btn", label),
            Submit::Danger(label) => ("btn danger", label),
        };
        view! {
            <form method="post" class=class>
                {self.hidden_fields(act)}
                {self.fields(act, fields)}
                <button class=button_class>{label}</button>
            </form>
        }
        .into_any()
    }

    /// The form to filter a list, whose fields have the values of the query string.
    pub fn search_form<const FIELDS: usize>(&self, fields: [Field; FIELDS]) -> AnyView {
        let fields = fields.map(|field| Field { value: self.query.text(field.name).to_owned(), ..field });
        view! {
            <form class="tools" method="get" role="search">
                {self.fields(SEARCH, fields)}
                <button class="btn">"Show"</button>
            </form>
        }
        .into_any()
    }

    pub fn fields<const FIELDS: usize>(&self, act: &str, fields: [Field; FIELDS]) -> AnyView {
        fields.map(|field| self.field(act, field)).collect_view().into_any()
    }

    /// A field of the form `act`: label, control, error and hint.
    fn field(&self, act: &str, field: Field) -> AnyView {
        let Field { name, label, hint, value, sends_shown, control } = field;
        let id = format!("{act}-{name}");
        let was_rejected = self.error.is_some() && self.sent.text("act") == act;
        let error = self.error.as_ref().filter(|error| was_rejected && error.field == name);
        if error.is_some() {
            self.is_error_shown.store(true, Ordering::Relaxed);
        }
        let hint_id = (!hint.is_empty()).then(|| format!("{id}-hint"));
        let error_id = error.map(|_| format!("{id}-error"));
        let described_by: Vec<String> = error_id.iter().chain(&hint_id).cloned().collect();
        let described_by = (!described_by.is_empty()).then(|| described_by.join(" "));
        let shown = sends_shown.then(|| {
            let name = shown_name(name);
            // The input of a rejected form is kept, and so is what it began with.
            let value = if was_rejected { self.sent.text(&name).to_owned() } else { value.clone() };
            view! { <input type="hidden" name=name value=value /> }
        });
        let value = if was_rejected { self.sent.text(name).to_owned() } else { value };
        let control = control.view(id.clone(), name, value, described_by, error.is_some());
        let error = error.map(|error| {
            // The sentence is that of the API, which begins with the name that the field has there.
            let text = error.text();
            let text = match text.strip_prefix(name) {
                Some(rest) if rest.starts_with(' ') => format!("'{label}'{rest}"),
                _ => text,
            };
            view! { <p class="error" id=error_id role="alert">{text}</p> }
        });
        let hint = hint_id.map(|id| view! { <p class="hint" id=id>{hint}</p> });
        view! { <div class="field"><label for=id>{label}</label>{control}{shown}{error}{hint}</div> }
            .into_any()
    }

    /// The hidden fields of every POST form: the CSRF token and the name of the form.
    pub fn hidden_fields(&self, act: &'static str) -> AnyView {
        view! {
            <input type="hidden" name="csrf" value=self.csrf.clone() />
            <input type="hidden" name="act" value=act />
        }
        .into_any()
    }

    pub fn button(&self, button: Button) -> AnyView {
        let Button { act, label, class, id, about, confirm, fields } = button;
        let fields = fields
            .into_iter()
            .map(|(name, value)| view! { <input type="hidden" name=name value=value /> })
            .collect_view();
        let question = confirm.map(|(title, consequence)| {
            view! {
                <input type="hidden" name="question" value=title />
                <input type="hidden" name="consequence" value=consequence />
                <input type="hidden" name="yes" value=label />
            }
        });
        view! {
            <form method="post">
                {self.hidden_fields(act)}
                {fields}
                {question}
                <button class=class id=id aria-label=about>{label}</button>
            </form>
        }
        .into_any()
    }
}

/// A form that consists of one button.
pub struct Button {
    act: &'static str,
    label: &'static str,
    class: &'static str,
    id: Option<String>,
    about: Option<String>,
    confirm: Option<(String, String)>,
    fields: Vec<(&'static str, String)>,
}

impl Button {
    pub fn new(act: &'static str, label: &'static str) -> Self {
        Self { act, label, class: "btn", id: None, about: None, confirm: None, fields: Vec::new() }
    }

    /// Removes the border, for buttons in lists.
    pub fn quiet(self) -> Self {
        Self { class: "btn quiet", ..self }
    }

    /// Sets an accessible name, for buttons with the same label.
    pub fn about(self, about: impl Into<String>) -> Self {
        Self { about: Some(about.into()), ..self }
    }

    /// Sets an id, so that the button keeps the focus when a live list is refreshed.
    pub fn id(self, id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..self }
    }

    /// Asks for confirmation: in the script's dialog or, without JavaScript, on a page.
    pub fn confirm(self, question: impl Into<String>, consequence: impl Into<String>) -> Self {
        Self { confirm: Some((question.into(), consequence.into())), ..self }
    }

    pub fn field(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, value.into()));
        self
    }
}
