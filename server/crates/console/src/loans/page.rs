//! The loans to pay out, and the forms to approve more.

use axum::response::Response;
use leptos::prelude::*;

use crate::{
    loans::{self, GivenLoan},
    view::prelude::*,
};
use base::error::Failure;
use lending::{
    lists::PageQuery,
    loans::{DisbursementStatus, PendingLoan},
};

const PAGE_SIZE: u32 = 50;
const REFRESH_MS: u32 = 3000;

const SUCCESS: SuccessMessages =
    &[("approved", "{} is approved and ready to be paid out."), ("made", "{} approved.")];

pub async fn show(visit: Visit) -> Result<Response, Failure> {
    let page_query = PageQuery::of(PAGE_SIZE, visit.query.given("after"));
    let (loans, next) = visit.sandbox.pending.page(&page_query).await?;
    let is_first = visit.query.given("after").is_none();
    let shown = count(loans.len(), "loan");
    let heading = match (&next, is_first) {
        (None, true) => format!("{shown} to pay out"),
        (_, true) => format!("The latest {shown} to pay out"),
        (_, false) => format!("{shown} approved earlier"),
    };
    let frame = Frame::of(Page::Loans).count(heading).live(REFRESH_MS).success_messages(SUCCESS);
    Ok(visit.page(frame, || {
        let list = if loans.is_empty() {
            empty_state(Icon::EMPTY, "No pending loans", "Approve one, or generate some.")
        } else {
            listed(loans, next)
        };
        view! {
            <div class="two">
                {card("waiting", "Pending", view! { <div id="waiting" data-live="">{list}</div> })}
                <div class="stack">{make_form(&visit)}{approve_form(&visit)}</div>
            </div>
        }
    }))
}

fn listed(loans: Vec<PendingLoan>, next: Option<String>) -> AnyView {
    let rows = loans.into_iter().map(|loan| {
        let state = match loan.disbursement_status {
            DisbursementStatus::NotStarted => tag(Tone::Plain, "Not started"),
            DisbursementStatus::Pending => tag(Tone::Wait, "Pending"),
            DisbursementStatus::Completed => tag(Tone::Good, "Completed"),
            DisbursementStatus::Failed => tag(Tone::Bad, "Failed"),
        };
        let notes = loan.notes.map(|notes| view! { <span class="second">{notes}</span> });
        cells![
            view! {
                <b><bdi>{loan.customer_first_name}" "{loan.customer_last_name}</bdi></b>
                <span class="second num">{loan.customer_phone_number}</span>
            },
            view! { <span class="amount">{kes(loan.total_loan_amount)}</span> },
            view! { {loan.loan_id.to_string()}<span class="second">{timestamp(loan.approved_at)}</span> },
            view! { {state}{notes} },
        ]
    });
    let columns =
        [first("Customer"), beside("Amount"), digits("Loan, approved").label("Loan"), left("Payout")];
    let older = next.map(|next| older_link(Page::Loans, [("after", next.as_str())]));
    view! { {table(columns, rows)}{older} }.into_any()
}

fn make_form(visit: &Visit) -> AnyView {
    let how_many = Field::number("count", "How many").hint("From 1 to 1000. One if empty.").value("10");
    let form = visit.form("make", "in fields", [how_many], Submit::Plain("Approve"));
    card("make", "Approve generated loans", form)
}

fn approve_form(visit: &Visit) -> AnyView {
    let fields = [
        Field::text("customer_first_name", "First name"),
        Field::text("customer_last_name", "Last name"),
        Field::typed("customer_phone_number", "Phone", "tel")
            .hint("Some phone numbers select the outcome of the payout; see Scenario."),
        Field::number("total_loan_amount", "Amount, in KES"),
        Field::number("term", "Term, in months"),
        Field::text("interest_rate", "Interest rate, in percent"),
        Field::text("purpose", "Purpose"),
        Field::text("loan_id", "Loan ID"),
    ];
    let form = view! {
        <form method="post" class="in stack">
            <p class="muted">"Empty fields get generated values."</p>
            {visit.hidden_fields("approve")}
            {visit.fields("approve", fields)}
            <button class="btn main">"Approve"</button>
        </form>
    };
    card("approve", "Approve one loan", form)
}

pub async fn perform(visit: &Visit) -> Result<Done, FieldError> {
    let sent = &visit.sent;
    let text = |name| sent.given(name).map(str::to_owned);
    match sent.text("act") {
        "make" => {
            let how_many = sent.parsed("count", "whole number")?.unwrap_or(1);
            let approved =
                loans::approve(&visit.sandbox, how_many, GivenLoan::default(), &visit.trail).await?;
            Ok(Done::new("made").with(count(approved.len(), "loan")))
        }
        "approve" => {
            let given = GivenLoan {
                loan_id: text("loan_id").map(Into::into),
                customer_first_name: text("customer_first_name"),
                customer_last_name: text("customer_last_name"),
                customer_phone_number: text("customer_phone_number"),
                total_loan_amount: sent.parsed("total_loan_amount", "whole number of shillings")?,
                interest_rate: sent.parsed("interest_rate", "number")?,
                term: sent.parsed("term", "whole number of months")?.map(Some),
                purpose: text("purpose").map(Some),
                ..GivenLoan::default()
            };
            let approved = loans::approve(&visit.sandbox, 1, given, &visit.trail).await?;
            let loan = approved.into_iter().next().map(|loan| {
                let PendingLoan { customer_first_name, customer_last_name, total_loan_amount, .. } = loan;
                // Isolated (Unicode TR 9): a name in another direction turns nothing round.
                format!(
                    "{} for \u{2068}{customer_first_name} {customer_last_name}\u{2069}",
                    kes(total_loan_amount)
                )
            });
            Ok(Done::new("approved").with(loan.unwrap_or_default()))
        }
        _ => Err(FieldError::unknown_action()),
    }
}
