//! Tables, and the link to older rows.

use leptos::prelude::*;

use super::page::Page;

/// A column: its head, and the classes and the label of its cells. A narrow card has no heads: the cells of the class
/// `more` stand below the others there, each with its label.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    head: &'static str,
    class: &'static str,
    label: Option<&'static str>,
}

/// What a row is about.
pub fn first(head: &'static str) -> Column {
    Column { head, class: "", label: None }
}

/// A number that a narrow card shows beside the first cell.
pub fn beside(head: &'static str) -> Column {
    first(head).class("right num")
}

pub fn left(head: &'static str) -> Column {
    Column { head, class: "more", label: Some(head) }
}

/// Left-aligned digits, which do not wrap.
pub fn digits(head: &'static str) -> Column {
    left(head).class("more num")
}

pub fn right(head: &'static str) -> Column {
    left(head).class("more right num")
}

/// Buttons. Their head is only for screen readers.
pub fn actions() -> Column {
    first("Actions").class("act")
}

impl Column {
    pub fn class(self, class: &'static str) -> Self {
        Self { class, ..self }
    }

    pub fn label(self, label: &'static str) -> Self {
        Self { label: Some(label), ..self }
    }

    fn head(self) -> AnyView {
        let align = self.class.contains("right").then_some("right");
        let hide = (self.class == "act").then_some("visually-hidden");
        view! { <th scope="col" class=align><span class=hide>{self.head}</span></th> }.into_any()
    }

    fn cell(self, content: AnyView) -> AnyView {
        view! { <td class=self.class data-label=self.label>{content}</td> }.into_any()
    }
}

/// The cells of a row, in the order of the columns.
macro_rules! cells {
    ($($content:expr),* $(,)?) => { [$(leptos::prelude::IntoAny::into_any($content)),*] };
}
pub(crate) use cells;

/// A table of `rows` with these columns.
pub fn table<const COLUMNS: usize>(
    columns: [Column; COLUMNS],
    rows: impl IntoIterator<Item = [AnyView; COLUMNS]>,
) -> AnyView {
    let rows = rows.into_iter().map(|cells| {
        let cells = columns.into_iter().zip(cells).map(|(column, content)| column.cell(content));
        view! { <tr>{cells.collect_view()}</tr> }
    });
    let rows = rows.collect_view().into_any();
    view! {
        <table>
            <thead>
                <tr>{columns.map(Column::head).collect_view()}</tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
    }
    .into_any()
}

/// The link to the older rows of a list, with these parameters.
pub fn older_link<'q>(page: Page, parameters: impl IntoIterator<Item = (&'q str, &'q str)>) -> AnyView {
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
    let address = format!("{}?{query}", page.address());
    view! { <div class="under"><a href=address>"Older"</a></div> }.into_any()
}
