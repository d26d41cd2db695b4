//! Small charts, drawn here.

use leptos::prelude::*;

/// One column: what it says in words, and how high its parts are, from the ground up.
pub struct Column {
    /// What it stands for and how much that is.
    pub words: String,
    /// The class that colours a part, and how much it is.
    pub parts: Vec<(&'static str, i64)>,
}

const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 120.0;
/// How much of its place a column leaves empty.
const GAP: f64 = 0.25;

/// Columns beside each other, from the earliest to the latest. `about` is what a picture of them
/// would be called; the words of each column are there to be pointed at.
pub fn columns(about: String, columns: Vec<Column>) -> AnyView {
    let highest = columns.iter().map(total).max().unwrap_or_default().max(1);
    let place = WIDTH / share_of(columns.len());
    let bars = columns
        .into_iter()
        .enumerate()
        .map(|(nth, column)| {
            let x = share_of(nth).mul_add(place, place * GAP / 2.0);
            let mut ground = HEIGHT;
            let parts = column
                .parts
                .iter()
                .filter(|part| part.1 > 0)
                .map(|&(class, amount)| {
                    let height = share(amount, highest) * HEIGHT;
                    ground -= height;
                    rectangle(class, x, ground, place * (1.0 - GAP), height)
                })
                .collect_view();
            // The whole height is there to be pointed at, not the column alone.
            let ground = rectangle("ground", nth_place(nth, place), 0.0, place, HEIGHT);
            view! { <g><title>{column.words}</title>{ground}{parts}</g> }
        })
        .collect_view();
    let frame = format!("0 0 {WIDTH} {HEIGHT}");
    view! {
        <svg class="chart" viewBox=frame preserveAspectRatio="none" role="img" aria-label=about>
            {bars}
        </svg>
    }
    .into_any()
}

fn rectangle(class: &'static str, x: f64, y: f64, width: f64, height: f64) -> AnyView {
    let [x, y, width, height] = [x, y, width, height].map(|length| format!("{length:.1}"));
    view! { <rect class=class x=x y=y width=width height=height></rect> }.into_any()
}

fn nth_place(nth: usize, place: f64) -> f64 {
    share_of(nth) * place
}

fn total(column: &Column) -> i64 {
    column.parts.iter().map(|part| part.1).sum()
}

#[expect(clippy::cast_precision_loss, reason = "drawn to a tenth of a pixel")]
fn share(part: i64, whole: i64) -> f64 {
    part as f64 / whole as f64
}

#[expect(clippy::cast_precision_loss, reason = "a chart has a few columns")]
fn share_of(n: usize) -> f64 {
    n as f64
}
