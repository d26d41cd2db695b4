//! Tables, and the link to older rows.

use leptos::prelude::*;

use super::page::Page;

/// A column header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    Left(&'static str),
    /// Aligned right, for amounts.
    Right(&'static str),
    /// Only for screen readers, for columns of buttons.
    Hidden(&'static str),
}

pub use Head::{Hidden, Left, Right};

/// A table of `rows` under `heads`.
pub fn table<const COLUMNS: usize, R: IntoView + 'static>(
    heads: [Head; COLUMNS],
    rows: impl IntoIterator<Item = R>,
) -> AnyView {
    let rows = rows.into_iter().collect_view().into_any();
    let heads = heads.map(|head| match head {
        Left(label) => view! { <th scope="col">{label}</th> }.into_any(),
        Right(label) => view! { <th scope="col" class="right">{label}</th> }.into_any(),
        Hidden(label) => {
            view! { <th scope="col"><span class="visually-hidden">{label}</span></th> }.into_any()
        }
    });
    view! {
        <table>
            <thead>
                <tr>{heads.collect_view()}</tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
    }
    .into_any()
}

/// The link to the older rows of a paginated list, if there are any.
pub fn older_link(page: Page, next: Option<String>) -> Option<AnyView> {
    next.map(|next| {
        let address = format!("{}?after={next}", page.address());
        view! { <div class="under"><a href=address>"Older"</a></div> }.into_any()
    })
}
