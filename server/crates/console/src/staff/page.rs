//! Staff accounts with their roles and sessions.

use axum::response::Response;
use leptos::prelude::*;

use crate::{
    staff::{self, Account, AccountChange},
    view::prelude::*,
};
use base::{email::Email, error::Failure};
use lending::auth::AuthRefusal;

const REFRESH_MS: u32 = 3000;

const SUCCESS: SuccessMessages = &[
    ("changed", "{} is updated."),
    ("activated", "{} can sign in again."),
    ("deactivated", "{} is deactivated and all its sessions are ended."),
    ("codes_off", "{} signs in with the password alone from now on."),
    ("expired", "{} ended."),
];

pub async fn show(visit: Visit) -> Result<Response, Failure> {
    let accounts = staff::all(&visit.sandbox).await?;
    let open: i64 = accounts.iter().map(|account| account.open_sessions).sum();
    let open = count(open, "open session");
    let expire = visit.button(Button::new("expire", "End everybody's sessions").confirm(
        "End everybody's sessions?",
        "Everyone's next request returns 401, and the portal asks them to sign in.",
    ));
    let frame = Frame::of(Page::Staff)
        .count(format!("{}, {open}", count(accounts.len(), "account")))
        .action(expire)
        .live(REFRESH_MS)
        .success_messages(SUCCESS);
    Ok(visit.page(frame, || {
        let list = if accounts.is_empty() {
            empty_state(Icon::USER, "No accounts yet", "Add one with `mkopo user add`.")
        } else {
            listed(&visit, accounts)
        };
        list_card("Accounts", "accounts", None, list)
    }))
}

/// The roles' names, as in the API.
const ROLES: [&str; 3] = ["admin", "supervisor", "agent"];

fn listed(visit: &Visit, accounts: Vec<Account>) -> AnyView {
    let rows = accounts.into_iter().map(|account| row(visit, account));
    let columns =
        [first("Name"), left("Account"), beside("Sessions").label("sessions"), left("Role"), actions()];
    table(columns, rows)
}

fn row(visit: &Visit, account: Account) -> [AnyView; 5] {
    let needs_code = account.sign_in_code_required;
    let Account { id, email, first_name, last_name, phone_number, role, is_active, open_sessions, .. } =
        account;
    let email = email.to_string();
    let button = |act, label: &'static str| {
        Button::new(act, label)
            .quiet()
            .id(format!("{act}-{id}"))
            .about(format!("{label} {email}"))
            .field("email", email.clone())
    };
    let (state, toggle) = if is_active {
        let deactivate = button("deactivate", "Deactivate")
            .confirm(format!("Deactivate {email}?"), "All their sessions end.");
        (tag(Tone::Good, "Active"), deactivate)
    } else {
        (tag(Tone::Bad, "Deactivated"), button("activate", "Activate"))
    };
    let toggle = visit.button(toggle);
    let expire = (open_sessions > 0).then(|| visit.button(button("expire", "End sessions")));
    let codes_off = needs_code.then(|| visit.button(button("codes_off", "Turn off sign-in codes")));
    let current = role.to_string();
    let roles = ROLES
        .map(|role| view! { <option value=role selected=role == current>{role}</option> })
        .collect_view();
    cells![
        view! {
            <b><bdi>{first_name}" "{last_name}</bdi></b>
            <span class="second">{email.clone()}</span>
            <span class="second num">{phone_number}</span>
        },
        state,
        open_sessions,
        view! {
            <form method="post" class="row">
                {visit.hidden_fields("role")}
                <input type="hidden" name="email" value=email.clone() />
                <select name="role" id=format!("role-{id}") aria-label=format!("Role of {email}")>
                    {roles}
                </select>
                <button class="btn quiet" id=format!("save-{id}") aria-label=format!("Save the role of {email}")>
                    "Save"
                </button>
            </form>
        },
        view! { <div class="row">{toggle}{expire}{codes_off}</div> },
    ]
}

pub async fn perform(visit: &Visit) -> Result<Done, FieldError> {
    let sandbox = &visit.sandbox;
    let address = visit.sent.text("email");
    let email = || Email::parse(address).ok_or(AuthRefusal::UserNotFound);
    let set_active = |is_active| AccountChange { is_active: Some(is_active), ..AccountChange::default() };
    let (message, change) = match visit.sent.text("act") {
        "role" => {
            let role = Some(visit.sent.named("role")?);
            ("changed", AccountChange { role, ..AccountChange::default() })
        }
        "codes_off" => {
            let sign_in_code_required = Some(false);
            ("codes_off", AccountChange { sign_in_code_required, ..AccountChange::default() })
        }
        "activate" => ("activated", set_active(true)),
        "deactivate" => ("deactivated", set_active(false)),
        "expire" => {
            let account = if address.is_empty() { None } else { Some(email()?) };
            let ended = staff::expire(sandbox, account, &visit.trail).await?;
            return Ok(Done::new("expired").with(count(ended, "session")));
        }
        _ => return Err(FieldError::unknown_action()),
    };
    staff::change(sandbox, email()?, change, &visit.trail).await?;
    Ok(Done::new(message).with(address))
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::listed::{assert_same, words_of};

    #[test]
    fn the_form_offers_each_role() {
        assert_same(ROLES, &words_of("Role"), "Add a role to ROLES.");
    }
}
