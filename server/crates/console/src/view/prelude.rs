//! What pages are made of: `use crate::view::prelude::*` in a page.

pub use super::{
    form::{Button, Field, Submit, TIME_HINT},
    frame::{Frame, SuccessMessages, card, done, empty_state, list_card, note},
    icon::Icon,
    page::Page,
    table::{Hidden, Left, Right, older_link, table},
    visit::{Done, FieldError, Question, Visit},
    words::{Tone, count, duration_text, kes, number, tag, timestamp},
};
