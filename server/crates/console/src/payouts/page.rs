//! The payouts and the audit.

use axum::response::Response;
use leptos::prelude::*;

use crate::{traces, view::prelude::*};
use base::error::Failure;
use lending::{
    lists::PageQuery,
    payouts::{self, Invariant, PayoutStatus, Record},
};

const PAGE_SIZE: u32 = 50;
const REFRESH_MS: u32 = 2000;

pub async fn show(visit: Visit) -> Result<Response, Failure> {
    let page_query = PageQuery::of(PAGE_SIZE, visit.query.given("after"));
    let (records, next) = visit.sandbox.records.page(&page_query).await?;
    let invariant = payouts::invariant(&mut visit.sandbox.database.read().await?).await?;
    let is_first = visit.query.given("after").is_none();
    let shown = count(records.len(), "payout");
    let heading = match (&next, is_first) {
        (None, true) => shown,
        (_, true) => format!("The latest {shown}"),
        (_, false) => format!("{shown} made earlier"),
    };
    let frame = Frame::of(Page::Payouts).count(heading).live(REFRESH_MS);
    Ok(visit.page(frame, || {
        let list = if records.is_empty() {
            empty_state(Icon::TRANSFER, "No payouts yet", "Pay out a loan in the portal.")
        } else {
            listed(records, next)
        };
        view! {
            <div id="audit" data-live="">{audit(&invariant)}</div>
            {list_card("Payouts", "payouts", None, list)}
        }
    }))
}

/// The result of the audit, in one sentence.
pub fn audit(invariant: &Invariant) -> AnyView {
    let Invariant { ok, money_out, completed, double_paid, without_payout, pending } = invariant;
    let waiting = match pending {
        0 => String::new(),
        n => format!(" {} not settled yet.", count(*n, "payout")),
    };
    let (tone, text) = if *ok {
        (
            Tone::Good,
            format!(
                "Every shilling is accounted for: {} paid out, matching the records.{waiting}",
                kes(*money_out)
            ),
        )
    } else {
        let twice = match double_paid.as_slice() {
            [] => String::new(),
            loans => format!(" Paid twice: {}.", loans.join(", ")),
        };
        let unexplained = match without_payout.as_slice() {
            [] => String::new(),
            receipts => format!(" Payments without a payout: {}.", receipts.join(", ")),
        };
        let (sent, recorded) = (kes(*money_out), kes(*completed));
        (
            Tone::Bad,
            format!(
                "The audit failed: mobile money sent {sent}, the records show {recorded}.{twice}{unexplained}\
                 {waiting}"
            ),
        )
    };
    let role = if *ok { "status" } else { "alert" };
    note(tone, role, "invariant", text)
}

fn state(status: PayoutStatus) -> AnyView {
    match status {
        PayoutStatus::Pending => tag(Tone::Wait, "Pending"),
        PayoutStatus::Completed => tag(Tone::Good, "Completed"),
        PayoutStatus::Failed => tag(Tone::Bad, "Failed"),
    }
}

fn listed(records: Vec<Record>, next: Option<String>) -> AnyView {
    let rows = records.into_iter().map(|record| {
        let reference = record.mpesa_ref.unwrap_or_else(|| "N/A".to_owned());
        let reason = record.error_message.map(|reason| {
            let code = record.result_code.map(|code| format!(" (code {code})")).unwrap_or_default();
            view! { <span class="second">{reason}{code}</span> }
        });
        let notes = record.notes.map(|notes| view! { <span class="second">{notes}</span> });
        cells![
            view! {
                <b><bdi>{record.customer_first_name}" "{record.customer_last_name}</bdi></b>
                <span class="second num">{record.phone}</span>
            },
            view! { <span class="amount">{kes(record.amount)}</span> },
            view! { {state(record.status)}{reason}{notes} },
            view! { {reference}<span class="second">{record.loan_id.to_string()}</span> },
            view! {
                <a href=traces::address(&record.id)>{timestamp(record.created_at)}</a>
                <span class="second">"by "<bdi>{record.user_first_name}" "{record.user_last_name}</bdi></span>
            },
        ]
    });
    let columns = [
        first("Customer"),
        beside("Amount"),
        left("State"),
        digits("Reference, loan").label("Reference"),
        left("Started"),
    ];
    let older = next.map(|next| older_link(Page::Payouts, [("after", next.as_str())]));
    view! { {table(columns, rows)}{older} }.into_any()
}
