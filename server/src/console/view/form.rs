//! Forms, whose fields keep rejected input and show the error.

use std::sync::atomic::Ordering;

use leptos::prelude::*;

use super::visit::Visit;

/// The attributes of a field's control.
pub struct Control {
    /// The id, which the label refers to.
    pub id: String,
    /// The name.
    pub name: &'static str,
    /// The rejected input, or the current value.
    pub value: String,
    /// The ids of the hint and the error.
    pub described_by: Option<String>,
    /// `"true"` if the value was rejected.
    pub invalid: Option<&'static str>,
    /// `true` to focus the control on load.
    pub autofocus: bool,
}

/// A form field.
pub struct Field {
    /// The name.
    pub name: &'static str,
    /// The label.
    pub label: &'static str,
    /// The hint; can be empty.
    pub hint: &'static str,
    /// The current value.
    pub value: String,
}

impl Field {
    /// An empty field without a hint.
    pub fn new(name: &'static str, label: &'static str) -> Self {
        Self { name, label, hint: "", value: String::new() }
    }

    /// Sets the hint.
    pub fn hint(self, hint: &'static str) -> Self {
        Self { hint, ..self }
    }

    /// Sets the value.
    pub fn value(self, value: impl Into<String>) -> Self {
        Self { value: value.into(), ..self }
    }
}

impl Visit {
    /// Returns `true` if the form `act` was rejected, so that it keeps its input.
    pub fn was_rejected(&self, act: &str) -> bool {
        self.error.is_some() && self.sent.text("act") == act
    }

    /// A field of the form `act`: label, control, error and hint.
    pub fn field(&self, act: &str, field: Field, control: impl FnOnce(Control) -> AnyView) -> AnyView {
        let Field { name, label, hint, value } = field;
        let id = format!("{act}-{name}");
        let was_rejected = self.was_rejected(act);
        let error = self.error.as_ref().filter(|error| was_rejected && error.field == name);
        if error.is_some() {
            self.is_error_shown.store(true, Ordering::Relaxed);
        }
        let hint_id = (!hint.is_empty()).then(|| format!("{id}-hint"));
        let error_id = error.map(|_| format!("{id}-error"));
        let described_by: Vec<String> = error_id.iter().chain(&hint_id).cloned().collect();
        let control = control(Control {
            id: id.clone(),
            name,
            value: if was_rejected { self.sent.text(name).to_owned() } else { value },
            described_by: (!described_by.is_empty()).then(|| described_by.join(" ")),
            invalid: error.map(|_| "true"),
            autofocus: error.is_some(),
        });
        let error = error.map(|error| {
            view! { <p class="error" id=error_id role="alert">{error.failure.to_string()}</p> }
        });
        let hint = hint_id.map(|id| view! { <p class="hint" id=id>{hint}</p> });
        view! { <div class="field"><label for=id>{label}</label>{control}{error}{hint}</div> }.into_any()
    }

    /// A text field.
    pub fn text_field(&self, act: &str, field: Field) -> AnyView {
        self.typed_field(act, field, "text", None)
    }

    /// A field for a whole number.
    pub fn number_field(&self, act: &str, field: Field) -> AnyView {
        self.typed_field(act, field, "text", Some("numeric"))
    }

    /// A field with the given input type.
    pub fn typed_field(
        &self,
        act: &str,
        field: Field,
        input_type: &'static str,
        inputmode: Option<&'static str>,
    ) -> AnyView {
        self.field(act, field, |Control { id, name, value, described_by, invalid, autofocus }| {
            view! {
                <input
                    id=id
                    name=name
                    type=input_type
                    value=value
                    inputmode=inputmode
                    autocomplete="off"
                    spellcheck="false"
                    autofocus=autofocus
                    aria-describedby=described_by
                    aria-invalid=invalid
                />
            }
            .into_any()
        })
    }

    /// A field to choose one of `options`, which are pairs of value and label.
    pub fn choice(&self, act: &str, field: Field, options: Vec<(String, String)>) -> AnyView {
        self.field(act, field, |Control { id, name, value, described_by, invalid, autofocus }| {
            // Keep a rejected value that is not an option.
            let unknown =
                (!options.iter().any(|option| option.0 == value)).then(|| (value.clone(), value.clone()));
            let options = options
                .into_iter()
                .chain(unknown)
                .map(|(option, label)| {
                    let is_selected = option == value;
                    view! { <option value=option selected=is_selected>{label}</option> }
                })
                .collect_view();
            view! {
                <select
                    id=id
                    name=name
                    autofocus=autofocus
                    aria-describedby=described_by
                    aria-invalid=invalid
                >
                    {options}
                </select>
            }
            .into_any()
        })
    }

    /// The hidden fields of every POST form: the CSRF token and the name of the form.
    pub fn hidden_fields(&self, act: &'static str) -> AnyView {
        view! {
            <input type="hidden" name="csrf" value=self.csrf.clone() />
            <input type="hidden" name="act" value=act />
        }
        .into_any()
    }

    /// A form that consists of one button.
    pub fn button(&self, button: Button) -> AnyView {
        let Button { act, label, class, id, about, confirm, fields } = button;
        let fields = fields
            .into_iter()
            .map(|(name, value)| view! { <input type="hidden" name=name value=value /> })
            .collect_view();
        let (question, consequence) = confirm.unzip();
        view! {
            <form method="post" data-confirm=question data-consequence=consequence>
                {self.hidden_fields(act)}
                {fields}
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
    /// A button that submits the form `act`.
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

    /// Asks for confirmation, if JavaScript is available.
    pub fn confirm(self, question: impl Into<String>, consequence: impl Into<String>) -> Self {
        Self { confirm: Some((question.into(), consequence.into())), ..self }
    }

    /// Adds a hidden field.
    pub fn field(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, value.into()));
        self
    }
}
