//! `mkopo user`: manages the accounts of staff.

use std::io::{BufRead, IsTerminal, Write};

use crate::{
    auth::{
        Role, Staff,
        accounts::{self, NewAccount},
        new_password,
        password::{MAXIMUM_LENGTH, MINIMUM_LENGTH, Passwords},
        session,
    },
    clock::{Clock, UnixMillis},
    console,
    database::{Connection, Database, shared_clock},
    email::Email,
    error::Failure,
    events::{Kind, NewEvent, Trail, with_act},
    phone::Msisdn,
    randomness::Randomness,
    settings::{StoreSettings, values},
};
use anyhow::{Context, bail};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

/// The arguments of `mkopo user`.
#[derive(clap::Args, Debug)]
pub struct UserSettings {
    /// Where the data is. The service may keep running.
    #[command(flatten)]
    pub store: StoreSettings,

    /// What to do.
    #[command(subcommand)]
    pub command: UserCommand,
}

/// The operations on accounts.
#[derive(clap::Subcommand, Debug)]
pub enum UserCommand {
    /// Add an account. Prompts for the password.
    Add(AddUser),
    /// List all accounts: e-mail address, name, phone number, role and status.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Deactivate an account: its sessions end at once and nobody can sign in to it.
    Deactivate {
        /// The account's e-mail address.
        #[arg(value_parser = values::email)]
        email: Email,
    },
    /// Activate a deactivated account again.
    Activate {
        /// The account's e-mail address.
        #[arg(value_parser = values::email)]
        email: Email,
    },
}

/// The account to add.
#[derive(clap::Args, Debug)]
pub struct AddUser {
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

    /// What the account may do.
    #[arg(long)]
    pub role: Role,

    /// Name shown in the portal, which can't be a password.
    #[arg(long, env = "MKOPO_BRAND", default_value = "Mkopo", value_parser = values::name, value_name = "NAME")]
    pub brand: String,

    /// Read the password from the first line of standard input instead of asking for it.
    #[arg(long)]
    pub password_stdin: bool,
}

/// Runs the command. The service may keep running.
pub async fn run(settings: UserSettings) -> anyhow::Result<()> {
    let UserSettings { store, command } = settings;
    let password = match &command {
        UserCommand::Add(user) => {
            let password = read_password(user.password_stdin)?;
            match new_password::check(&password, &user.email, &user.brand) {
                Err(Failure::PasswordTooEasy) => bail!(
                    "the password is too easy to guess; choose one that is not common, and not the e-mail \
                     address or the name of the portal"
                ),
                checked => checked?,
            }
            Some(password)
        }
        _ => None,
    };
    let database = store.open_existing().await?;
    let clock = Clock::system();
    shared_clock::set(&database, &clock).await?;
    clock.set(console::clock::stored(&mut *database.read().await?).await?);
    let (now, events) = (clock.now(), events(&command, clock.unset_now()));
    let act = async {
        match (command, password) {
            (UserCommand::Add(user), Some(password)) => add(&database, now, user, password).await,
            (UserCommand::Add(_), None) => unreachable!("its password was read above"),
            (UserCommand::List { json }, _) => list(&database, json).await,
            (UserCommand::Deactivate { email }, _) => set_active(&database, clock, email, false).await,
            (UserCommand::Activate { email }, _) => set_active(&database, clock, email, true).await,
        }
    };
    let done = with_act(&database, events, act, Result::is_ok).await;
    database.close().await;
    done
}

fn events(command: &UserCommand, at: UnixMillis) -> Vec<NewEvent> {
    let event = |kind, email: &Email| NewEvent::on_command_line(at, kind).about(email.as_str());
    match command {
        UserCommand::Add(user) => {
            let role = clap::ValueEnum::to_possible_value(&user.role);
            let role = role.map_or_else(String::new, |role| format!("role: {}", role.get_name()));
            vec![event(Kind::AccountOpened, &user.email).details(&role)]
        }
        UserCommand::List { .. } => Vec::new(),
        UserCommand::Deactivate { email } => vec![event(Kind::AccountDeactivated, email)],
        UserCommand::Activate { email } => vec![event(Kind::AccountActivated, email)],
    }
}

async fn add(
    database: &Database,
    now: UnixMillis,
    user: AddUser,
    password: SecretString,
) -> anyhow::Result<()> {
    let randomness = Randomness::from_os();
    let AddUser { email, first_name, last_name, username, phone, role, .. } = user;
    let account = NewAccount {
        email: email.clone(),
        username: username.unwrap_or_else(|| first_name.clone()),
        first_name,
        last_name,
        phone_number: phone,
        role,
        password,
    };
    match accounts::open(
        database,
        &Passwords::new(randomness.clone()),
        &randomness,
        now,
        account,
        &Trail::default(),
    )
    .await
    {
        Err(failure) if failure.is_unique_violation() => bail!("{email} already has an account"),
        opened => opened.context("the account could not be opened")?,
    }
    println!("{email} can sign in.");
    Ok(())
}

async fn list(database: &Database, is_json: bool) -> anyhow::Result<()> {
    let staff = accounts::all(&mut *database.read().await?).await?;
    let mut out = std::io::stdout().lock();
    if is_json {
        let staff: Vec<Value> = staff.iter().map(as_json).collect();
        writeln!(out, "{:#}", Value::from(staff))?;
        return Ok(());
    }
    for staff in staff {
        let state = if staff.is_active { "active" } else { "inactive" };
        let role = clap::ValueEnum::to_possible_value(&staff.role).map(|role| role.get_name().to_owned());
        writeln!(
            out,
            "{}\t{}\t{}\t{}\t{state}",
            staff.email,
            staff.name(),
            staff.phone_number,
            role.unwrap_or_default()
        )?;
    }
    Ok(())
}

/// An account, with the field names of the console's API.
fn as_json(staff: &Staff) -> Value {
    json!({
        "id": staff.staff_id,
        "email": staff.email,
        "username": staff.username,
        "first_name": staff.first_name,
        "last_name": staff.last_name,
        "phone_number": staff.phone_number,
        "role": staff.role,
        "is_active": staff.is_active,
        "created_at": staff.created_at,
    })
}

async fn set_active(database: &Database, clock: Clock, email: Email, is_active: bool) -> anyhow::Result<()> {
    let (account, now) = (email.clone(), clock.now());
    let set = database
        .write(async move |connection: &mut Connection| {
            accounts::set_active(connection, &account, is_active, &clock).await
        })
        .await;
    let staff_id = match set {
        Err(Failure::UserNotFound) => bail!("{email} has no account"),
        set => set.with_context(|| format!("the account of {email} could not be changed"))?,
    };
    if !is_active {
        // This machine's clock need not be the servers': what has expired by it may still be live.
        let earliest = UnixMillis(i64::MIN);
        session::end_all_in_batches(database, staff_id, now, earliest)
            .await
            .with_context(|| format!("some sessions of {email} could not be ended; try again"))?;
    }
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
        let typed = rpassword::prompt_password("Password: ").context("the password could not be read")?;
        if typed
            != rpassword::prompt_password("Repeat the password: ")
                .context("the password could not be read")?
        {
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
