//! The messages that were sent, with their codes on top.

use std::time::Duration;

use axum::response::Response;
use leptos::prelude::*;

use crate::view::prelude::*;
use base::error::Failure;
use lending::outbox::{self, Channel, MessageFilter, OutboxMessage};

const PAGE_SIZE: usize = 50;
/// Often, because people wait for codes.
const REFRESH_MS: u32 = 1000;

const SUCCESS: SuccessMessages = &[("emptied", "The outbox is empty.")];

pub async fn show(visit: Visit) -> Result<Response, Failure> {
    let filter = MessageFilter {
        to: visit.query.given("to").map(|to| outbox::recipient(to).unwrap_or_else(|| to.to_owned())),
        channel: visit.query.named("channel").ok(),
        after: None,
    };
    let messages = outbox::wait_for_messages(&visit.sandbox.database, &filter, Duration::ZERO).await?;
    let found = messages.len();
    let heading = match found {
        outbox::MAX_READ.. => format!("{} or more, the latest {PAGE_SIZE} shown", count(found, "message")),
        _ if found > PAGE_SIZE => format!("{}, the latest {PAGE_SIZE} shown", count(found, "message")),
        _ => count(found, "message"),
    };
    let empty = visit.button(Button::new("empty", "Empty the outbox").confirm(
        "Empty the outbox?",
        "All messages are deleted, including codes and messages not yet sent.",
    ));
    let frame = Frame::of(Page::Outbox)
        .count(heading)
        .announced()
        .action(empty)
        .live(REFRESH_MS)
        .success_messages(SUCCESS);
    Ok(visit.page(frame, || {
        let list = if found > 0 {
            let items = messages.into_iter().take(PAGE_SIZE).map(item).collect_view();
            view! { <ul class="messages">{items}</ul> }.into_any()
        } else if filter.to.is_some() || filter.channel.is_some() {
            empty_state(
                Icon::EMPTY,
                "No matching messages",
                "Try another address or number, or clear the filter.",
            )
        } else {
            empty_state(
                Icon::MAIL,
                "No messages yet",
                "Codes and receipts appear here as soon as they are sent.",
            )
        };
        list_card("Messages", "messages", Some(filter_form(&visit)), list)
    }))
}

fn filter_form(visit: &Visit) -> AnyView {
    let channels = [("", "E-mail and SMS"), ("email", "E-mail"), ("sms", "SMS")];
    visit.search_form([Field::text("to", "To"), Field::choice("channel", "Channel", channels)])
}

fn item(message: OutboxMessage) -> AnyView {
    let OutboxMessage { id, channel, to, subject, body, code, created_at } = message;
    let code = code.map(|code| {
        let (button, code_id) = (format!("copy-{id}"), format!("code-{id}"));
        let about = format!("Copy the code {code}");
        view! {
            <p class="code">
                <code id=code_id>{code.clone()}</code>
                <button class="btn copy" type="button" id=button data-copy=code aria-label=about hidden=true>
                    {Icon::COPY.view()}
                    <span>"Copy"</span>
                </button>
            </p>
        }
    });
    let channel = match channel {
        Channel::Email => "E-mail",
        Channel::Sms => "SMS",
    };
    view! {
        <li>
            {code}
            <p class="who"><b>{to}</b>" "<span class="muted">{channel}" · "{timestamp(created_at)}</span></p>
            {subject.map(|subject| view! { <p class="subject">{subject}</p> })}
            <p class="body">{body}</p>
        </li>
    }
    .into_any()
}

pub async fn perform(visit: &Visit) -> Result<Done, FieldError> {
    match visit.sent.text("act") {
        "empty" => {
            outbox::empty(&visit.sandbox.database, &visit.trail).await?;
            Ok(Done::new("emptied"))
        }
        _ => Err(FieldError::unknown_action()),
    }
}
