//! `mkopo user`: manages the accounts of staff.

use std::io::{BufRead, IsTerminal};

use anyhow::{Context, bail};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use super::{
    folder_lock,
    server::{Body, ServerArguments, part},
    terminal::{self, elements, print_list},
};
use base::{clock::Clock, email::Email, phone::Msisdn, randomness::Randomness};
use lending::{
    auth::{
        AuthRefusal, Role,
        accounts::{self, NewAccount},
        new_password,
        password::{MAXIMUM_LENGTH, MINIMUM_LENGTH, Passwords},
    },
    events::Trail,
    world::stored_clock,
};
use settings::{StoreSettings, values};
use store::{Database, shared_clock};

/// The operations on accounts.
#[derive(clap::Subcommand, Debug)]
pub enum UserCommand {
    /// Add an account without a service, such as the first one. Prompts for the password. While a service
    /// runs on the data folder, add accounts on its console.
    Add(AddUser),
    /// List all accounts: e-mail address, name, phone number, role and status.
    List {
        /// The service.
        #[command(flatten)]
        server: ServerArguments,

        /// Print JSON, with the field names of the console's API.
        #[arg(long)]
        json: bool,
    },
    /// Deactivate an account: its sessions end at once and nobody can sign in to it.
    Deactivate(Account),
    /// Activate a deactivated account again.
    Activate(Account),
}

/// An account of a service.
#[derive(clap::Args, Debug)]
pub struct Account {
    /// The service.
    #[command(flatten)]
    pub server: ServerArguments,

    /// The account's e-mail address.
    #[arg(value_parser = values::email)]
    pub email: Email,
}

/// The account to add.
#[derive(clap::Args, Debug)]
pub struct AddUser {
    /// The database.
    #[command(flatten)]
    pub store: StoreSettings,

    /// E-mail address, used to sign in.
    #[arg(value_parser = values::email)]
    pub email: Email,

    /// First name.
    #[arg(long, value_parser = values::name, value_name = "NAME")]
    pub first_name: String,

    /// Last name.
    #[arg(long, value_parser = values::name, value_name = "NAME")]
    pub last_name: String,

    /// Name shown in the portal. Defaults to the first name.
    #[arg(long, value_parser = values::name, value_name = "NAME")]
    pub username: Option<String>,

    /// Kenyan mobile number that receives reset codes.
    #[arg(long, value_parser = values::phone, value_name = "NUMBER")]
    pub phone: Msisdn,

    /// Role of the account.
    #[arg(long)]
    pub role: Role,

    /// Name shown in the portal. It is not accepted as a password.
    #[arg(long, env = "MKOPO_BRAND", default_value = "Mkopo", value_parser = values::name, value_name = "NAME")]
    pub brand: String,

    /// Read the password from the first line of standard input instead of asking for it.
    #[arg(long)]
    pub password_stdin: bool,
}

pub async fn run(command: UserCommand) -> anyhow::Result<()> {
    let call = match command {
        UserCommand::Add(user) => return add(user).await,
        UserCommand::List { server, json } => tokio::task::spawn_blocking(move || list(server, json)),
        UserCommand::Deactivate(account) => tokio::task::spawn_blocking(|| set_active(account, false)),
        UserCommand::Activate(account) => tokio::task::spawn_blocking(|| set_active(account, true)),
    };
    call.await?
}

async fn add(user: AddUser) -> anyhow::Result<()> {
    let AddUser { store, email, first_name, last_name, username, phone, role, brand, password_stdin } = user;
    let password = read_password(password_stdin)?;
    if let Err(failure) = new_password::check(&password, &email, &brand) {
        if let Some(AuthRefusal::PasswordTooEasy) = failure.refusal() {
            bail!(
                "the password is too easy to guess; choose one that is not common, and not the e-mail address or \
                 the name of the portal"
            );
        }
        return Err(failure.into());
    }
    let _lock = folder_lock::lock(&store, "add the account on its console, or stop it first")?;
    if store.is_missing() {
        eprintln!("There is no database in the data folder {}: it is created.", store.data_dir.display());
    }
    let database = store.open().await?;
    let account = NewAccount {
        email,
        username: username.unwrap_or_else(|| first_name.clone()),
        first_name,
        last_name,
        phone_number: phone,
        role,
        password,
    };
    let added = open(&database, account).await;
    database.close().await;
    added
}

async fn open(database: &Database, account: NewAccount) -> anyhow::Result<()> {
    let (clock, randomness, email) = (Clock::system(), Randomness::from_os(), account.email.clone());
    shared_clock::set(database, &clock).await?;
    clock.set(stored_clock(&mut database.read().await?).await?);
    let (passwords, now) = (Passwords::new(randomness.clone()), clock.now());
    let trail = Trail::of_command_line(clock.unset_now());
    match accounts::open(database, &passwords, &randomness, now, account, &trail).await {
        Err(failure) if failure.is_unique_violation() => bail!("{email} already has an account"),
        opened => opened.context("the account could not be opened")?,
    }
    println!("{email} can sign in.");
    Ok(())
}

fn list(server: ServerArguments, is_json: bool) -> anyhow::Result<()> {
    let staff = server.open(None)?.console("GET", "/staff", Body::Empty)?;
    let row = |account: &Value| {
        let text = |field: &str| terminal::text(&account[field], "");
        let state = if account["is_active"] == true { "active" } else { "inactive" };
        let name = format!("{} {}", text("first_name"), text("last_name"));
        [text("email"), name, text("phone_number"), text("role"), state.to_owned()]
    };
    print_list(&staff, is_json, elements(&staff).map(row))
}

fn set_active(Account { server, email }: Account, is_active: bool) -> anyhow::Result<()> {
    let path = format!("/staff/{}", part(email.as_str()));
    let change = Body::Json(json!({ "is_active": is_active }));
    let changed = server.open(None)?.console("PATCH", &path, change);
    changed.with_context(|| format!("the account of {email} could not be changed"))?;
    println!("{email} {}.", if is_active { "can sign in" } else { "can no longer sign in" });
    Ok(())
}

/// Reads the password from standard input, or prompts for it twice.
fn read_password(from_stdin: bool) -> anyhow::Result<SecretString> {
    let password: SecretString = if from_stdin {
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line).context("the password could not be read")?;
        line.trim_end_matches(['\r', '\n']).into()
    } else if std::io::stdin().is_terminal() {
        let typed = terminal::password("Password: ")?;
        if typed != terminal::password("Repeat the password: ")? {
            bail!("the two passwords differ");
        }
        typed.into()
    } else {
        bail!("there is no terminal to prompt for the password; use --password-stdin");
    };
    let length = password.expose_secret().chars().count();
    if !(MINIMUM_LENGTH..=MAXIMUM_LENGTH).contains(&length) {
        bail!("the password must have {MINIMUM_LENGTH} to {MAXIMUM_LENGTH} characters");
    }
    Ok(password)
}
