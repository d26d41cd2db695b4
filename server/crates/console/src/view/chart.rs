//! Small SVG charts.

use leptos::prelude::*;

/// A column of stacked parts, from bottom to top.
pub struct Column {
    pub at: String,
    /// Its values in words, for the tooltip.
    pub text: String,
    /// The CSS class and the value of each part.
    pub parts: Vec<(&'static str, i64)>,
}

const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 120.0;
/// The fraction of a column's slot that stays empty.
const GAP: f64 = 0.25;

/// A column chart with the accessible name `label`, from one time to another; `height` says how much the highest column
/// stands for. What only one column would show is a sentence.
pub fn column_chart(
    label: String,
    [from, to]: [String; 2],
    height: impl Fn(i64) -> String,
    columns: Vec<Column>,
) -> AnyView {
    let mut filled = columns.iter().filter(|column| total(column) > 0);
    if let (only, None) = (filled.next(), filled.next()) {
        let text = only.map_or_else(
            || "Nothing in this time.".to_owned(),
            |Column { at, text, .. }| format!("All at {at}: {text}."),
        );
        return view! { <p class="muted">{text}</p> }.into_any();
    }
    let highest = columns.iter().map(total).max().unwrap_or_default();
    let slot = WIDTH / as_float(columns.len());
    let bars = columns
        .into_iter()
        .enumerate()
        .map(|(index, column)| {
            let start = as_float(index) * slot;
            let mut top = HEIGHT;
            let parts = column
                .parts
                .iter()
                .filter(|part| part.1 > 0)
                .map(|&(class, amount)| {
                    let height = ratio(amount, highest) * HEIGHT;
                    top -= height;
                    rectangle(class, start + slot * GAP / 2.0, top, slot * (1.0 - GAP), height)
                })
                .collect_view();
            // Show the tooltip for the full height, not only for the column.
            let hover_area = rectangle("hover-area", start, 0.0, slot, HEIGHT);
            view! { <g><title>{format!("{}: {}", column.at, column.text)}</title>{hover_area}{parts}</g> }
        })
        .collect_view();
    let frame = format!("0 0 {WIDTH} {HEIGHT}");
    view! {
        <p class="axis"><span>{height(highest)}</span></p>
        <svg class="chart" viewBox=frame preserveAspectRatio="none" role="img" aria-label=label>
            {bars}
        </svg>
        <p class="axis"><span>{from}</span><span>{to}</span></p>
    }
    .into_any()
}

fn rectangle(class: &'static str, x: f64, y: f64, width: f64, height: f64) -> AnyView {
    let [x, y, width, height] = [x, y, width, height].map(|length| format!("{length:.1}"));
    view! { <rect class=class x=x y=y width=width height=height></rect> }.into_any()
}

fn total(column: &Column) -> i64 {
    column.parts.iter().map(|part| part.1).sum()
}

#[expect(clippy::cast_precision_loss, reason = "coordinates have one decimal")]
fn ratio(part: i64, whole: i64) -> f64 {
    part as f64 / whole as f64
}

#[expect(clippy::cast_precision_loss, reason = "a chart has a few columns")]
fn as_float(n: usize) -> f64 {
    n as f64
}
