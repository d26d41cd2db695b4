//! Forms: the fields that show what was typed and what is wrong with it.

use std::sync::atomic::Ordering;

use leptos::prelude::*;

use super::visit::Visit;

/// What a control needs to be part of its field.
pub struct Control {
    /// Its id and, for a label, what it is for.
    pub id: String,
    /// Its name.
    pub name: &'static str,
    /// What was typed when it was refused, else what stands.
    pub value: String,
    /// Who describes it: hint and error.
    pub described_by: Option<String>,
    /// Set when it was refused.
    pub invalid: Option<&'static str>,
    /// Whether to start here.
    pub autofocus: bool,
}

/// A field to be shown.
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What people call it.
    pub label: &'static str,
    /// More about it; may be empty.
    pub hint: &'static str,
    /// What stands in it.
    pub value: String,
}

impl Field {
    /// An empty field without a hint.
    pub fn new(name: &'static str, label: &'static str) -> Self {
        Self { name, label, hint: "", value: String::new() }
    }

    /// With a hint.
    pub fn hint(self, hint: &'static str) -> Self {
        Self { hint, ..self }
    }

    /// With a value.
    pub fn value(self, value: impl Into<String>) -> Self {
        Self { value: value.into(), ..self }
    }
}

impl Visit {
    /// Whether the form `act` was refused, so that it keeps what was typed.
    pub fn was_refused(&self, act: &str) -> bool {
        self.refusal.is_some() && self.sent.text("act") == act
    }

    /// A field of the form `act`: label, control, hint, and what is wrong with it.
    pub fn field(&self, act: &str, field: Field, control: impl FnOnce(Control) -> AnyView) -> AnyView {
        let Field { name, label, hint, value } = field;
        let id = format!("{act}-{name}");
        let was_refused = self.was_refused(act);
        let refusal = self.refusal.as_ref().filter(|refusal| was_refused && refusal.field == name);
        if refusal.is_some() {
            self.is_refusal_shown.store(true, Ordering::Relaxed);
        }
        let hint_id = (!hint.is_empty()).then(|| format!("{id}-hint"));
        let error_id = refusal.map(|_| format!("{id}-error"));
        let described_by: Vec<String> = error_id.iter().chain(&hint_id).cloned().collect();
        let control = control(Control {
            id: id.clone(),
            name,
            value: if was_refused { self.sent.text(name).to_owned() } else { value },
            described_by: (!described_by.is_empty()).then(|| described_by.join(" ")),
            invalid: refusal.map(|_| "true"),
            autofocus: refusal.is_some(),
        });
        let error = refusal.map(|refusal| {
            view! { <p class="error" id=error_id role="alert">{refusal.failure.to_string()}</p> }
        });
        let hint = hint_id.map(|id| view! { <p class="hint" id=id>{hint}</p> });
        view! { <div class="field"><label for=id>{label}</label>{control}{error}{hint}</div> }.into_any()
    }

    /// A field of one line.
    pub fn text_field(&self, act: &str, field: Field) -> AnyView {
        self.typed_field(act, field, "text", None)
    }

    /// A field for a whole number.
    pub fn number_field(&self, act: &str, field: Field) -> AnyView {
        self.typed_field(act, field, "text", Some("numeric"))
    }

    /// A field of one line of that type.
    pub fn typed_field(
        &self,
        act: &str,
        field: Field,
        of_type: &'static str,
        inputmode: Option<&'static str>,
    ) -> AnyView {
        self.field(act, field, |Control { id, name, value, described_by, invalid, autofocus }| {
            view! {
                <input
                    id=id
                    name=name
                    type=of_type
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

    /// A field in which one of `options`, values and words, is chosen.
    pub fn choice(&self, act: &str, field: Field, options: Vec<(String, String)>) -> AnyView {
        self.field(act, field, |Control { id, name, value, described_by, invalid, autofocus }| {
            // What was sent is kept, also where it is none of them.
            let unknown =
                (!options.iter().any(|option| option.0 == value)).then(|| (value.clone(), value.clone()));
            let options = options
                .into_iter()
                .chain(unknown)
                .map(|(option, word)| {
                    let is_chosen = option == value;
                    view! { <option value=option selected=is_chosen>{word}</option> }
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

    /// What every form that does something carries: whose it is, and what it does.
    pub fn form_of(&self, act: &'static str) -> AnyView {
        view! {
            <input type="hidden" name="csrf" value=self.csrf.clone() />
            <input type="hidden" name="act" value=act />
        }
        .into_any()
    }

    /// A form that is one button.
    pub fn button(&self, button: Button) -> AnyView {
        let Button { act, word, class, id, about, confirm, fields } = button;
        let fields = fields
            .into_iter()
            .map(|(name, value)| view! { <input type="hidden" name=name value=value /> })
            .collect_view();
        let (question, consequence) = confirm.unzip();
        view! {
            <form method="post" data-confirm=question data-consequence=consequence>
                {self.form_of(act)}
                {fields}
                <button class=class id=id aria-label=about>{word}</button>
            </form>
        }
        .into_any()
    }
}

/// A form that is one button.
pub struct Button {
    act: &'static str,
    word: &'static str,
    class: &'static str,
    id: Option<String>,
    about: Option<String>,
    confirm: Option<(String, String)>,
    fields: Vec<(&'static str, String)>,
}

impl Button {
    /// A button with that word, which does `act`.
    pub fn new(act: &'static str, word: &'static str) -> Self {
        Self { act, word, class: "btn", id: None, about: None, confirm: None, fields: Vec::new() }
    }

    /// One of many, in a row.
    pub fn quiet(self) -> Self {
        Self { class: "btn quiet", ..self }
    }

    /// One of many with the same word: what this one is about.
    pub fn about(self, about: impl Into<String>) -> Self {
        Self { about: Some(about.into()), ..self }
    }

    /// Keeps its focus by this id when a live list is renewed.
    pub fn id(self, id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..self }
    }

    /// Asks before it is done, where there is a script.
    pub fn confirm(self, question: impl Into<String>, consequence: impl Into<String>) -> Self {
        Self { confirm: Some((question.into(), consequence.into())), ..self }
    }

    /// Sends a field that nobody types.
    pub fn field(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, value.into()));
        self
    }
}
