//! The start page: money, the audit and API calls.

use std::{collections::BTreeMap, ops::Range, sync::Arc, time::Duration};

use axum::response::Response;
use jiff::tz::TimeZone;
use leptos::prelude::*;

use crate::{
    payouts::audit,
    staff,
    view::{
        chart::{Column, column_chart},
        prelude::*,
    },
};
use base::{clock::UnixMillis, error::Failure, kes::Kes};
use lending::{
    loans::{self, Waiting},
    outbox,
    payouts::{self, PayoutStatus, Sum},
};
use worlds::traffic::call::Entry;

const REFRESH_MS: u32 = 2000;
/// The number of days in the payout chart.
const DAYS: u32 = 14;
const MINUTE: Duration = Duration::from_mins(1);
/// The number of minutes in the call chart.
const MINUTES: u32 = 30;

pub async fn show(visit: Visit) -> Result<Response, Failure> {
    let sandbox = &visit.sandbox;
    let now = sandbox.clock.now();
    let zone = sandbox.clock.zone().clone();
    let (calls, has_dropped) = (sandbox.traffic.entries(), sandbox.traffic.has_dropped());
    let date = now.in_zone(&zone).strftime("%A, %-d %B %Y").to_string();
    let frame = Frame::of(Page::Overview).count(date).live(REFRESH_MS);
    if let Some(provider) = &sandbox.provider {
        let text = format!("Loans, payouts and accounts are those of the provider at {}. ", provider.url);
        return Ok(visit.page(frame, || {
            view! {
                <div id="overview" data-live="">
                    <p>{text}<a href=Page::Contract.address()>"Where it differs from the contract"</a></p>
                    {calls_by_minute(&zone, now, &calls, has_dropped)}
                </div>
            }
        }));
    }
    let midnights = now.midnights(&zone, DAYS);
    let scenario = sandbox.mobile_money.scenario().await?;
    let accounts = staff::all(sandbox).await?;
    let mut reader = sandbox.database.read().await?;
    let invariant = payouts::invariant(&mut reader).await?;
    let Waiting { loans: waiting, amount } = loans::waiting(&mut reader).await?;
    // A day can have 23 or 25 hours.
    let days: Vec<Range<UnixMillis>> = midnights.windows(2).map(|day| day[0]..day[1]).collect();
    let sums = payouts::sums(&mut reader, &days).await?;
    let messages: i64 = outbox::count_by_channel(&mut reader).await?.iter().map(|channel| channel.1).sum();
    drop(reader);
    Ok(visit.page(frame, || {
        let open: i64 = accounts.iter().map(|account| account.open_sessions).sum();
        let (paid, pending) = (kes(invariant.completed), number(invariant.pending));
        let figures = [
            figure(Icon::MONEY, "Float", kes(scenario.float), "available for payouts", Page::Scenario),
            figure(Icon::CLOCK, "Loans to pay out", number(waiting), kes(amount), Page::Loans),
            figure(Icon::TRANSFER, "Paid out", paid, "completed payouts", Page::Payouts),
            figure(Icon::CLOCK, "Not settled", pending, "payouts without an outcome", Page::Payouts),
            figure(Icon::MAIL, "Messages", number(messages), "in the outbox", Page::Outbox),
            figure(Icon::USER, "Open sessions", number(open), "signed in to the portal", Page::Staff),
        ];
        view! {
            <div id="overview" data-live="">
                {audit(&invariant)}
                <div class="figures">{figures.collect_view()}</div>
                <div class="two even">
                    {payouts_by_day(&zone, &days, &sums)}
                    {calls_by_minute(&zone, now, &calls, has_dropped)}
                </div>
            </div>
        }
    }))
}

fn figure(icon: Icon, label: &'static str, value: String, detail: impl Into<String>, page: Page) -> AnyView {
    view! {
        <a class="card figure" href=page.address()>
            <span class="label">{icon.view()}{label}</span>
            <span class="value num">{value}</span>
            <span class="muted">{detail.into()}</span>
        </a>
    }
    .into_any()
}

fn payouts_by_day(
    zone: &TimeZone,
    days: &[Range<UnixMillis>],
    sums: &[BTreeMap<PayoutStatus, Sum>],
) -> AnyView {
    let bars = days.iter().zip(sums).map(|(day, sums)| {
        let amount = |status: PayoutStatus| sums.get(&status).map_or(Kes::default(), |sum| sum.amount);
        let completed = amount(PayoutStatus::Completed);
        let pending = amount(PayoutStatus::Pending);
        let failed = amount(PayoutStatus::Failed);
        let at = day.start.in_zone(zone).strftime("%-d %b").to_string();
        let text = format!("{} completed, {} pending, {} failed", kes(completed), kes(pending), kes(failed));
        Column { at, text, parts: vec![("good", completed.0), ("wait", pending.0), ("bad", failed.0)] }
    });
    let of_all_days = |status: PayoutStatus| sums.iter().filter_map(move |sums| sums.get(&status));
    let amount: Kes = of_all_days(PayoutStatus::Completed).map(|sum| sum.amount).sum();
    let completed: i64 = of_all_days(PayoutStatus::Completed).map(|sum| sum.payouts).sum();
    let failed: i64 = of_all_days(PayoutStatus::Failed).map(|sum| sum.payouts).sum();
    let summary =
        format!("{} in {} completed payouts, {} failed", kes(amount), number(completed), number(failed));
    let from = days[0].start.in_zone(zone).strftime("%-d %b").to_string();
    let chart = column_chart(
        format!("Payouts per day, last {DAYS} days: {summary}"),
        [from, "today".to_owned()],
        |most| format!("up to {}", kes(Kes(most))),
        bars.collect(),
    );
    let series = [("good", "Completed"), ("wait", "Pending"), ("bad", "Failed")];
    chart_card("days", "Payouts, last 14 days", summary, chart, &series)
}

fn calls_by_minute(zone: &TimeZone, now: UnixMillis, calls: &[Arc<Entry>], has_dropped: bool) -> AnyView {
    let minutes_ago = |minutes: u32| now.minus(MINUTE * minutes);
    let between =
        |from: UnixMillis, to: UnixMillis| calls.iter().filter(move |call| from < call.at && call.at <= to);
    let is_failed = |call: &&Arc<Entry>| call.status.is_none_or(|status| status.as_u16() >= 500);
    let bars = (0..MINUTES).rev().map(|ago| {
        let (from, to) = (minutes_ago(ago + 1), minutes_ago(ago));
        let all = between(from, to).count();
        let failed = between(from, to).filter(is_failed).count();
        let at = to.in_zone(zone).strftime("%H:%M").to_string();
        let text = format!("{}, {failed} failed", count(all, "call"));
        Column { at, text, parts: vec![("good", to_i64(all - failed)), ("bad", to_i64(failed))] }
    });
    let all = between(minutes_ago(MINUTES), now).count();
    let last_minute = between(minutes_ago(1), now).count();
    let failed = between(minutes_ago(MINUTES), now).filter(is_failed).count();
    let mut times: Vec<u64> = between(minutes_ago(MINUTES), now).map(|call| call.ms()).collect();
    times.sort_unstable();
    let p95 = times.get(times.len() * 95 / 100).copied().unwrap_or(0);
    // The newest comes first.
    let is_cut = has_dropped && calls.last().is_some_and(|oldest| oldest.at > minutes_ago(MINUTES));
    let limit = if is_cut {
        format!(". Only the latest {} are kept and counted.", count(calls.len(), "call"))
    } else {
        String::new()
    };
    let summary = format!(
        "{} in the last minute, {} in {MINUTES} minutes, {failed} failed; 95th percentile {p95} ms{limit}",
        count(last_minute, "call"),
        number(all),
    );
    let chart = column_chart(
        format!("API calls per minute, last {MINUTES} minutes: {summary}"),
        ["30 minutes ago", "now"].map(str::to_owned),
        |most| format!("up to {} calls", number(most)),
        bars.collect(),
    );
    let series = [("good", "Handled"), ("bad", "Failed")];
    chart_card("calls", "API calls, last 30 minutes", summary, chart, &series)
}

fn to_i64(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// A card with a chart below its summary, and above the classes and names of its series.
fn chart_card(
    id: &'static str,
    title: &'static str,
    summary: String,
    chart: AnyView,
    series: &[(&'static str, &'static str)],
) -> AnyView {
    let series = series
        .iter()
        .map(|&(class, label)| view! { <li><i class=class aria-hidden="true"></i>{label}</li> })
        .collect_view();
    let body = view! {
        <div class="in">
            <p class="num">{summary}</p>
            {chart}
            <ul class="legend">{series}</ul>
        </div>
    };
    card(id, title, body)
}
