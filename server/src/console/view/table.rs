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

/// A table of `rows` under `heads`.
pub fn table<const COLUMNS: usize>(heads: [Head; COLUMNS], rows: impl IntoView + 'static) -> AnyView {
    let heads = heads.map(|head| match head {
        Head::Left(label) => view! { <th scope="col">{label}</th> }.into_any(),
        Head::Right(label) => view! { <th scope="col" class="right">{label}</th> }.into_any(),
        Head::Hidden(label) => {
            view! { <th scope="col"><span class="visually-hidden">{label}</span></th> }.into_any()
        }
    });
    view! {
        <table>
            <thead>
                <tr>{heads.collect_view()}</tr>
            </thead>
            <tbody>{rows.into_any()}</tbody>
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
