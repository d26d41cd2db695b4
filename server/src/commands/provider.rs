//! `mkopo provider`: tries a provider against the contract, and records made-up data of the same shape.

use std::{
    io::{IsTerminal, Write},
    path::PathBuf,
};

use anyhow::{Context, bail};
use secrecy::SecretString;

use super::terminal;
use base::{clock::Clock, email::Email, randomness::Randomness};
use provider::{
    caller::Caller,
    check::{Check, Chosen, Confirm, Credentials, Tried},
    record::record,
};
use settings::{provider::ProviderUrl, values};

/// The operations on a provider.
#[derive(clap::Subcommand, Debug)]
pub enum ProviderCommand {
    /// Try a provider against the contract: every read, and every refusal that costs nothing. Fails if it
    /// breaks the contract.
    Check {
        /// The provider, and who signs in.
        #[command(flatten)]
        access: Access,

        /// Pay out one loan too, with the provider's real money, after asking.
        #[arg(long)]
        payouts: bool,

        /// Do not ask before the payout.
        #[arg(long, requires = "payouts")]
        yes: bool,

        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Record the pending loans and the payouts, with made-up names, numbers, ids and addresses in place of
    /// the real ones, for `mkopo seed --from`. Notes, purposes and reasons are left out.
    Record {
        /// The provider, and who signs in.
        #[command(flatten)]
        access: Access,

        /// The file to write. It must not exist.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,

        /// Change amounts by up to a tenth, and move times back by up to a week.
        #[arg(long)]
        jitter: bool,
    },
}

/// A provider, and who signs in.
#[derive(clap::Args, Debug)]
pub struct Access {
    /// The provider's address, such as `https://provider.example.com`.
    #[arg(long, env = "MKOPO_PROVIDER_URL", hide_env_values = true, value_parser = ProviderUrl::parse,
          value_name = "URL", required_unless_present = "url_file")]
    pub url: Option<ProviderUrl>,

    /// File that contains the provider's address. `--url` takes precedence.
    #[arg(long, env = "MKOPO_PROVIDER_URL_FILE", value_name = "FILE",
          value_parser = |file: &str| values::secret_in(file, ProviderUrl::parse))]
    pub url_file: Option<ProviderUrl>,

    /// The e-mail address of an account of the provider.
    #[arg(long, value_parser = values::email, value_name = "ADDRESS")]
    pub email: Email,

    /// Its password. Asked for if it is not set.
    #[arg(
        long,
        env = "MKOPO_PROVIDER_PASSWORD",
        hide = true,
        hide_env_values = true,
        allow_hyphen_values = true
    )]
    pub password: Option<SecretString>,

    /// File with the certificates (PEM) of CAs that are trusted for the provider, besides the CAs of the
    /// operating system.
    #[arg(long, env = "MKOPO_PROVIDER_CA", value_name = "FILE")]
    pub ca: Option<PathBuf>,

    /// Allow an address without TLS that is not on this machine.
    #[arg(long, env = "MKOPO_PROVIDER_INSECURE", num_args = 0..=1, default_value_t = false,
          default_missing_value = "true", action = clap::ArgAction::Set, value_parser = values::switch,
          value_name = "true|false")]
    pub insecure: bool,
}

impl Access {
    fn open(self) -> anyhow::Result<(Caller, Credentials)> {
        let url = self.url.or(self.url_file).context("give the provider's address as --url")?;
        url.check_security(self.insecure)?;
        let caller = Caller::new(url, self.ca.as_deref())?;
        let password = match self.password {
            Some(password) => password,
            None if std::io::stdin().is_terminal() => terminal::password("Password: ")?.into(),
            None => bail!("there is no terminal to prompt for the password; set MKOPO_PROVIDER_PASSWORD"),
        };
        Ok((caller, Credentials { email: self.email.to_string(), password }))
    }
}

pub async fn run(command: ProviderCommand) -> anyhow::Result<()> {
    match command {
        ProviderCommand::Check { access, payouts, yes, json } => {
            if payouts && !yes && !std::io::stdin().is_terminal() {
                bail!("{WITHOUT_TERMINAL}");
            }
            let (caller, credentials) = access.open()?;
            let mut confirm = |chosen: &Chosen| if yes { Ok(true) } else { confirm_payout(chosen) };
            let confirm: Option<&mut Confirm<'_>> = if payouts { Some(&mut confirm) } else { None };
            let key = Randomness::from_os().id(Clock::system().unset_now());
            let tried = Check::new(caller, key).run(credentials, confirm).await?;
            print(&tried, json)?;
            match tried.iter().map(|tried| tried.violations.len()).sum() {
                0_usize => Ok(()),
                1 => bail!("the provider breaks the contract in one place"),
                violations => bail!("the provider breaks the contract in {violations} places"),
            }
        }
        ProviderCommand::Record { access, out, jitter } => {
            let (caller, credentials) = access.open()?;
            // The key is not stored, so that nobody can find the originals with it.
            let key: [u8; 32] = Randomness::from_os().bytes();
            let recording = record(&caller, credentials, &key, jitter).await?;
            let unwritable = || format!("{} can't be written", out.display());
            let file = std::fs::File::create_new(&out).with_context(unwritable)?;
            let mut file = std::io::BufWriter::new(file);
            serde_json::to_writer_pretty(&mut file, &recording).with_context(unwritable)?;
            file.flush().with_context(unwritable)?;
            let (loans, payouts) = (recording.pending_loans.len(), recording.disbursement_records.len());
            writeln!(
                std::io::stdout(),
                "Recorded {loans} pending loans and {payouts} payouts, with made-up people."
            )?;
            Ok(())
        }
    }
}

/// Why nothing is tried where nobody can be asked later: the report would be lost then.
const WITHOUT_TERMINAL: &str = "this pays out a loan; add --yes to pay it out without being asked";

/// Asks on the terminal for the consent to a payout.
fn confirm_payout(chosen: &Chosen) -> anyhow::Result<bool> {
    let Chosen { loan_id, amount, phone } = chosen;
    terminal::confirm(
        &format!("Pay out loan {loan_id}, KES {amount} to {phone}, with the provider's money?"),
        WITHOUT_TERMINAL,
    )
}

/// Prints one line for each call, with its violations below it.
fn print(tried: &[Tried], is_json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if is_json {
        writeln!(out, "{}", serde_json::to_string_pretty(tried)?)?;
        return Ok(());
    }
    let widest = tried.iter().map(|tried| tried.what.chars().count()).max().unwrap_or_default();
    for Tried { what, call, status, violations, unknown_fields } in tried {
        let result = if violations.is_empty() { "ok" } else { "WRONG" };
        let status = status.map_or_else(|| "-".to_owned(), |status| status.to_string());
        writeln!(out, "{result:<5}  {status:<3}  {what:<widest$}  {call}")?;
        for violation in violations {
            writeln!(out, "            {violation}")?;
        }
        for field in unknown_fields {
            writeln!(out, "            not in the contract, harmless: {field}")?;
        }
    }
    Ok(())
}
