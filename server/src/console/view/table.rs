//! Tables: what stands over the columns, the rows, and the way to those before.

use leptos::prelude::*;

use super::page::Page;

/// What stands over a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    Left(&'static str),
    /// Over amounts and the like.
    Right(&'static str),
    /// Over buttons: not shown, only read out.
    Unseen(&'static str),
}

/// A table of `rows` under `heads`.
pub fn table<const COLUMNS: usize>(heads: [Head; COLUMNS], rows: impl IntoView + 'static) -> AnyView {
    let heads = heads.map(|head| match head {
        Head::Left(word) => view! { <th scope="col">{word}</th> }.into_any(),
        Head::Right(word) => view! { <th scope="col" class="right">{word}</th> }.into_any(),
        Head::Unseen(word) => view! { <th scope="col"><span class="unseen">{word}</span></th> }.into_any(),
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

/// The way to the rows after place `next` of a list that `page` shows a part of.
pub fn earlier(page: Page, next: Option<String>) -> Option<AnyView> {
    next.map(|next| {
        let address = format!("{}?after={next}", page.address());
        view! { <div class="under"><a href=address>"Earlier ones"</a></div> }.into_any()
    })
}
