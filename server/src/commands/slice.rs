//! `mkopo slice`: deploys slices, either directly in the database, while the service may be
//! running, or through the console of a remote service.

use std::{
    io::{BufRead, IsTerminal, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    clock::Clock,
    database::Database,
    error::Failure,
    events::{Kind, NewEvent, with_act},
    randomness::Randomness,
    sandboxes::{self, HEADER as SANDBOX, Name},
    settings::{StoreSettings, values},
    slices::{
        self, Build, Bundled, MANIFEST, Mark, Publication, SliceName, archive, deploy, deploy::NewToken,
    },
};
use anyhow::{Context, bail};
use secrecy::{ExposeSecret, SecretString};
use semver::Version;
use serde_json::{Value, json};
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// The arguments of `mkopo slice`.
#[derive(clap::Args, Debug)]
pub struct SliceSettings {
    /// Where the data is. The service may keep running.
    #[command(flatten)]
    pub store: StoreSettings,

    /// Folder of the built portal that the service serves. Builds must be compatible with its
    /// shell.
    #[arg(long, global = true, env = "MKOPO_PORTAL_DIR", value_parser = values::folder, value_name = "FOLDER")]
    pub portal_dir: Option<PathBuf>,

    /// Deploy through the console at this address, instead of through the service's database. With a
    /// deploy token, the address of the portal.
    #[arg(long, global = true, env = "MKOPO_SERVER", value_parser = values::server, value_name = "URL")]
    pub server: Option<String>,

    /// Console token of that service, or the slice's deploy token.
    #[arg(long, global = true, env = "MKOPO_CONSOLE_TOKEN", hide_env_values = true,
          value_parser = values::existing_console_token, value_name = "TOKEN")]
    pub token: Option<SecretString>,

    /// Who makes the change, for the trail. Defaults to the user who runs the command.
    #[arg(long, global = true, env = "MKOPO_BY", value_parser = values::by, value_name = "NAME")]
    pub by: Option<String>,

    /// The sandbox to deploy to, for it alone; others follow `main`.
    #[arg(long, global = true, env = "MKOPO_SANDBOX", value_name = "NAME")]
    pub sandbox: Option<String>,

    /// What to do.
    #[command(subcommand)]
    pub command: SliceCommand,
}

/// The operations on slices.
#[derive(clap::Subcommand, Debug)]
pub enum SliceCommand {
    /// Check a build, store it, and make it live.
    Publish {
        /// Folder of the build, or of the package that has it in `dist`.
        #[arg(value_parser = values::folder)]
        folder: PathBuf,

        /// Store the build without making it live; `activate` makes it live later.
        #[arg(long)]
        hold: bool,

        /// Accept a version below the live one.
        #[arg(long)]
        force: bool,
    },
    /// Make an existing build live; it may be an older one.
    Activate {
        /// The slice, such as mfe-loans.
        name: String,
        /// The build's version.
        version: String,
    },
    /// Make the previous build live again.
    Rollback {
        /// The slice, such as mfe-loans.
        name: String,
    },
    /// Remove all published builds of a slice, after asking. The build that is bundled with the portal
    /// goes live; without one, the slice is gone.
    Remove {
        /// The slice, such as mfe-loans.
        name: String,

        /// Do not ask.
        #[arg(long)]
        yes: bool,
    },
    /// Make, list and revoke the tokens with which teams deploy their own slice.
    Token {
        /// What to do.
        #[command(subcommand)]
        command: TokenCommand,
    },
    /// List all builds: slice, version, live or previous, origin, time and author.
    List {
        /// Print JSON, with the field names of the console's API.
        #[arg(long)]
        json: bool,
    },
}

/// The operations on deploy tokens.
#[derive(clap::Subcommand, Debug)]
pub enum TokenCommand {
    /// Print a new token, once. It publishes, activates, rolls back and holds that slice, and nothing else.
    Add {
        /// The slice, such as mfe-repayments. It may have no build yet.
        slice: String,

        /// What the list and the trail call the token.
        #[arg(long, default_value = deploy::NAME, value_parser = values::token_name)]
        name: String,

        /// How long it is valid, in days.
        #[arg(long, default_value = deploy::EXPIRES_IN, value_name = "DAYS")]
        expires: String,
    },
    /// List all tokens: slice, name, end, and last use.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// End a token at once.
    Revoke {
        /// The slice, such as mfe-repayments.
        slice: String,

        /// The token's name.
        #[arg(long, default_value = deploy::NAME, value_parser = values::token_name)]
        name: String,
    },
}

/// Timeout of a request to a remote service, which includes uploading a build.
const REQUEST_TIMEOUT: Duration = Duration::from_mins(1);

/// Runs the command.
pub async fn run(settings: SliceSettings) -> anyhow::Result<()> {
    let SliceSettings { store, portal_dir, server, token, by, sandbox, command } = settings;
    let sandbox = sandbox.as_deref().map(Name::existing).transpose()?.filter(|name| !name.is_main());
    let by = by.unwrap_or_else(current_user);
    if let SliceCommand::Remove { name, yes: false } = &command {
        confirm_removal(name)?;
    }
    if let Some(server) = server {
        let token = token.context("--server needs --token, the console token of that service")?;
        let remote = Remote { server, token, by, sandbox };
        return tokio::task::spawn_blocking(move || remote.run(command)).await?;
    }
    let database = store.open_existing().await?;
    let sandbox_id = match &sandbox {
        Some(name) => Some(sandboxes::id_of(&database, name).await?),
        None => None,
    };
    let bundled = Bundled { sandbox_id, ..Bundled::read(portal_dir.as_deref()).await? };
    let local = Local { database, bundled, by };
    let done = local.run(command).await;
    local.database.close().await;
    done
}

/// The user's name from the environment, where CI systems and shells set it.
pub(super) fn current_user() -> String {
    let names = ["GITHUB_ACTOR", "GITLAB_USER_LOGIN", "LOGNAME", "USER", "USERNAME"];
    let name = names.iter().find_map(|name| std::env::var(name).ok());
    let name = name.unwrap_or_else(|| "unknown".to_owned());
    let plain: String = name.chars().filter(|c| (' '..='~').contains(c)).take(100).collect();
    if plain.is_empty() { "unknown".to_owned() } else { plain }
}

struct Local {
    database: Database,
    bundled: Bundled,
    by: String,
}

impl Local {
    async fn run(&self, command: SliceCommand) -> anyhow::Result<()> {
        match command {
            SliceCommand::Publish { folder, hold, force } => {
                let build = Build::check(files_in(&folder)?, self.bundled.shell()?)?;
                let (name, version) = (build.name.as_str().to_owned(), build.version.to_string());
                let publication = Publication { hold, force, compress_at: Clock::system().unset_now() };
                let publishing =
                    slices::publish(&self.database, &self.bundled, build, publication, self.mark());
                let (slice, is_new) = self.record(Kind::SlicePublished, &name, publishing).await?;
                print_published(&name, &version, is_new, slice.live.map(|live| live.to_string()).as_deref())
            }
            SliceCommand::Activate { name, version } => {
                let unknown = Failure::BuildNotFound { name: name.clone(), version: version.clone() };
                let version = Version::parse(&version).map_err(|_| unknown)?;
                let activating =
                    slices::activate(&self.database, &self.bundled, parse(&name)?, version, self.mark());
                let slice = self.record(Kind::SliceActivated, &name, activating).await?;
                print_live(&name, slice.live.map(|live| live.to_string()).as_deref())
            }
            SliceCommand::Rollback { name } => {
                let rolling_back =
                    slices::roll_back(&self.database, &self.bundled, parse(&name)?, self.mark());
                let slice = self.record(Kind::SliceRolledBack, &name, rolling_back).await?;
                print_live(&name, slice.live.map(|live| live.to_string()).as_deref())
            }
            SliceCommand::Remove { name, .. } => {
                let removing = slices::remove(&self.database, &self.bundled, parse(&name)?, self.mark());
                let slice = self.record(Kind::SliceRemoved, &name, removing).await?;
                print_removed(&name, slice.live.map(|live| live.to_string()).as_deref())
            }
            SliceCommand::Token { command } => self.run_token(command).await,
            SliceCommand::List { json } => {
                let all = slices::all(&mut *self.database.read().await?, &self.bundled).await?;
                print_all(&serde_json::to_value(all)?, json)
            }
        }
    }

    async fn run_token(&self, command: TokenCommand) -> anyhow::Result<()> {
        let record = |kind: Kind, slice: &str, details: String| {
            let event = NewEvent::on_command_line(Clock::system().now(), kind).about(slice);
            vec![event.details(&format!("by: {}, {details}", self.by))]
        };
        match command {
            TokenCommand::Add { slice, name, expires } => {
                let (randomness, now) = (Randomness::from_os(), Clock::system().unset_now());
                let new = NewToken::parse(&slice, Some(&name), Some(&expires))?;
                let details = format!("token_name: {name}, expires_in: {expires}");
                let events = record(Kind::DeployTokenAdded, &slice, details);
                let adding = deploy::add(&self.database, &randomness, new, now);
                let added = with_act(&self.database, events, adding, Result::is_ok).await?;
                writeln!(std::io::stdout(), "{}", added.token)?;
            }
            TokenCommand::List { json } => {
                let all = deploy::list(&mut *self.database.read().await?).await?;
                print_tokens(&serde_json::to_value(all)?, json)?;
            }
            TokenCommand::Revoke { slice, name } => {
                let events = record(Kind::DeployTokenRevoked, &slice, format!("token_name: {name}"));
                let revoking = deploy::revoke(&self.database, slice.clone(), name.clone());
                with_act(&self.database, events, revoking, Result::is_ok).await?;
                print_revoked(&slice, &name)?;
            }
        }
        Ok(())
    }

    /// Runs `act` on the slice `name`, which is an event.
    async fn record<T>(
        &self,
        kind: Kind,
        name: &str,
        act: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let event = NewEvent::on_command_line(Clock::system().now(), kind).about(name);
        let event = event.details(&format!("by: {}", self.by));
        with_act(&self.database, vec![event], act, Result::is_ok).await
    }

    fn mark(&self) -> Mark {
        let at = Clock::system().now();
        Mark { id: Randomness::from_os().id(at), at, by: self.by.clone() }
    }
}

fn parse(name: &str) -> Result<SliceName, Failure> {
    SliceName::parse(name).ok_or_else(|| Failure::SliceNotFound(name.to_owned()))
}

pub(super) struct Remote {
    pub server: String,
    pub token: SecretString,
    pub by: String,
    /// The sandbox that it is about; `None` for `main`.
    pub sandbox: Option<Name>,
}

impl Remote {
    fn run(&self, command: SliceCommand) -> anyhow::Result<()> {
        match command {
            SliceCommand::Publish { folder, hold, force } => {
                let archive = archive::write(&files_in(&folder)?)?;
                let query = [("hold", hold), ("force", force)];
                let query: Vec<_> =
                    query.into_iter().filter(|pair| pair.1).map(|pair| (pair.0, "true")).collect();
                let (status, slice) = self.post("", &query, Some(("application/octet-stream", archive)))?;
                let name = slice["name"].as_str().unwrap_or_default();
                let version = version_in(&folder)?;
                print_published(name, &version, status == 201, slice["live"].as_str())
            }
            SliceCommand::Activate { name, version } => {
                let body = serde_json::to_vec(&json!({ "version": version }))?;
                let path = format!("/{}/activate", parse(&name)?.as_str());
                let (_, slice) = self.post(&path, &[], Some(("application/json", body)))?;
                print_live(&name, slice["live"].as_str())
            }
            SliceCommand::Rollback { name } => {
                let path = format!("/{}/rollback", parse(&name)?.as_str());
                let (_, slice) = self.post(&path, &[], None)?;
                print_live(&name, slice["live"].as_str())
            }
            SliceCommand::Remove { name, .. } => {
                let path = self.address(&format!("/{}", parse(&name)?.as_str()));
                let request = agent()
                    .delete(path)
                    .header("authorization", self.bearer())
                    .header(SANDBOX, self.sandbox())
                    .query("by", &self.by);
                let (_, slice) = self.answer(request.call())?;
                print_removed(&name, slice["live"].as_str())
            }
            SliceCommand::Token { command } => self.run_token(command),
            SliceCommand::List { json } => {
                let request = agent()
                    .get(self.address(""))
                    .header("authorization", self.bearer())
                    .header(SANDBOX, self.sandbox());
                let (_, answer) = self.answer(request.call())?;
                print_all(&answer["slices"], json)
            }
        }
    }

    fn run_token(&self, command: TokenCommand) -> anyhow::Result<()> {
        match command {
            TokenCommand::Add { slice, name, expires } => {
                let new = json!({ "slice": slice, "name": name, "expires_in": expires });
                let added = self.console("POST", "/deploy-tokens", Some(&new))?;
                writeln!(std::io::stdout(), "{}", added["token"].as_str().unwrap_or_default())?;
            }
            TokenCommand::List { json } => print_tokens(&self.console("GET", "/deploy-tokens", None)?, json)?,
            TokenCommand::Revoke { slice, name } => {
                self.console("DELETE", &format!("/deploy-tokens/{}/{name}", parse(&slice)?.as_str()), None)?;
                print_revoked(&slice, &name)?;
            }
        }
        Ok(())
    }

    /// The answer of the console's API to a call.
    pub fn console(&self, method: &str, path: &str, body: Option<&Value>) -> anyhow::Result<Value> {
        let address = format!("{}/console/api{path}", self.server);
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(address)
            .header("authorization", self.bearer())
            .header("content-type", "application/json")
            .body(body.map(serde_json::to_vec).transpose()?.unwrap_or_default())?;
        Ok(self.answer(agent().run(request))?.1)
    }

    fn sandbox(&self) -> &str {
        self.sandbox.as_ref().map_or("main", Name::as_str)
    }

    fn address(&self, path: &str) -> String {
        let calls = if self.has_deploy_token() { "/deploy/slices" } else { "/console/api/slices" };
        format!("{}{calls}{path}", self.server)
    }

    fn has_deploy_token(&self) -> bool {
        self.token.expose_secret().starts_with(deploy::PREFIX)
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token.expose_secret())
    }

    fn post(
        &self,
        path: &str,
        query: &[(&str, &str)],
        body: Option<(&str, Vec<u8>)>,
    ) -> anyhow::Result<(u16, Value)> {
        let mut request = agent()
            .post(self.address(path))
            .header("authorization", self.bearer())
            .header(SANDBOX, self.sandbox())
            .query_pairs(query.iter().copied());
        // A deploy token says itself who deploys.
        if !self.has_deploy_token() {
            request = request.query("by", &self.by);
        }
        let answer = match body {
            None => request.send_empty(),
            Some((media_type, body)) => {
                request = request.header("content-type", media_type);
                request.send(body)
            }
        };
        self.answer(answer)
    }

    fn answer(
        &self,
        answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    ) -> anyhow::Result<(u16, Value)> {
        // What rustls says of a plain-text response.
        if let Err(error) = &answer
            && error.to_string().contains("InvalidContentType")
        {
            bail!("{} does not use TLS: give its address with http:// instead of https://", self.server);
        }
        let mut answer = answer.with_context(|| format!("{} can't be reached", self.server))?;
        let status = answer.status().as_u16();
        let text = answer.body_mut().read_to_string().unwrap_or_default();
        let body: Value = serde_json::from_str(&text).unwrap_or_default();
        if !(200..300).contains(&status) {
            if body["code"] == "not_found" && !self.has_deploy_token() {
                bail!(
                    "{} is not the address of a console; by default it is the portal's with the next port",
                    self.server
                );
            }
            match body["error"].as_str() {
                Some(sentence) => bail!("{sentence}"),
                None => bail!("{} answered {status} and is not a Mkopo service", self.server),
            }
        }
        Ok((status, body))
    }
}

fn agent() -> ureq::Agent {
    // Private CAs are in the operating system's trust store.
    let roots = rustls_native_certs::load_native_certs().certs;
    let roots = RootCerts::from(roots.iter().map(|root| Certificate::from_der(root).to_owned()));
    // Error responses have a body that says why.
    ureq::Agent::config_builder()
        .tls_config(TlsConfig::builder().root_certs(roots).build())
        .timeout_global(Some(REQUEST_TIMEOUT))
        .http_status_as_error(false)
        .max_redirects(0)
        .build()
        .into()
}

/// The build's folder: `folder` itself, or its `dist` if it is a package.
fn build_in(folder: &Path) -> PathBuf {
    let dist = folder.join("dist");
    let is_package = !folder.join(MANIFEST).exists() && dist.join(MANIFEST).exists();
    if is_package { dist } else { folder.to_owned() }
}

fn files_in(folder: &Path) -> anyhow::Result<std::collections::BTreeMap<String, Vec<u8>>> {
    let folder = build_in(folder);
    if !folder.join(MANIFEST).exists() {
        bail!("{} is not a build of a slice: it has no {MANIFEST}", folder.display());
    }
    check_build_is_current(&folder)?;
    archive::read_folder(&folder).with_context(|| format!("can't read the build in {}", folder.display()))
}

fn version_in(folder: &Path) -> anyhow::Result<String> {
    let manifest: Value = serde_json::from_slice(&std::fs::read(build_in(folder).join(MANIFEST))?)?;
    Ok(manifest["metaData"]["buildInfo"]["buildVersion"].as_str().unwrap_or_default().to_owned())
}

/// Fails if the version in package.json was raised but the slice was not rebuilt.
fn check_build_is_current(folder: &Path) -> anyhow::Result<()> {
    let Some(package) = folder.parent().map(|parent| parent.join("package.json")) else { return Ok(()) };
    let read = |file: &Path| -> Option<Value> { serde_json::from_slice(&std::fs::read(file).ok()?).ok() };
    let (Some(package), Some(manifest)) = (read(&package), read(&folder.join(MANIFEST))) else {
        return Ok(());
    };
    let built = &manifest["metaData"]["buildInfo"];
    if package["name"] == built["buildName"] && package["version"] != built["buildVersion"] {
        bail!(
            "the build has version {}, but package.json has {}: rebuild it first",
            built["buildVersion"].as_str().unwrap_or("unknown"),
            package["version"].as_str().unwrap_or("unknown")
        );
    }
    Ok(())
}

fn print_published(name: &str, version: &str, is_new: bool, live: Option<&str>) -> anyhow::Result<()> {
    let outcome = if is_new { "is published" } else { "was already published" };
    let live_build = match live {
        Some(live) if live == version => "it is live".to_owned(),
        Some(live) => format!("{live} is live"),
        None => "no build of it is live".to_owned(),
    };
    writeln!(std::io::stdout(), "{name} {version} {outcome}; {live_build}.")?;
    Ok(())
}

fn print_live(name: &str, live: Option<&str>) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{name} {} is live.", live.unwrap_or("nothing"))?;
    Ok(())
}

fn print_removed(name: &str, live: Option<&str>) -> anyhow::Result<()> {
    let outcome = match live {
        Some(live) => format!("{name} is back to {live}, which is bundled with the portal."),
        None => format!("{name} is removed."),
    };
    writeln!(std::io::stdout(), "{outcome}")?;
    Ok(())
}

/// Asks on the terminal; fails unless the answer is yes.
fn confirm_removal(name: &str) -> anyhow::Result<()> {
    let mut terminal = std::io::stderr();
    if !std::io::stdin().is_terminal() {
        bail!("this removes all published builds of {name}; add --yes to remove them without being asked");
    }
    write!(terminal, "Remove all published builds of {name}? Type yes: ")?;
    terminal.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    if !answer.trim().eq_ignore_ascii_case("yes") {
        bail!("{name} was not removed");
    }
    Ok(())
}

fn print_revoked(slice: &str, name: &str) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "The token {name} of {slice} is revoked.")?;
    Ok(())
}

/// One line per token: slice, name, end, and last use.
fn print_tokens(tokens: &Value, is_json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if is_json {
        writeln!(out, "{tokens:#}")?;
        return Ok(());
    }
    for token in tokens.as_array().into_iter().flatten() {
        let text = |field: &str| token[field].as_str().unwrap_or("never used").to_owned();
        let [slice, name, expires_at, last_used_at] =
            ["slice", "name", "expires_at", "last_used_at"].map(text);
        writeln!(out, "{slice}\t{name}\t{expires_at}\t{last_used_at}")?;
    }
    Ok(())
}

/// One line per build: slice, version, status, origin, and when and by whom it was published.
fn print_all(slices: &Value, is_json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if is_json {
        writeln!(out, "{slices:#}")?;
        return Ok(());
    }
    for slice in slices.as_array().into_iter().flatten() {
        for build in slice["builds"].as_array().into_iter().flatten() {
            let status = if build["version"] == slice["live"] {
                "live"
            } else if build["version"] == slice["previous"] {
                "previous"
            } else {
                "-"
            };
            let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
            writeln!(
                out,
                "{}\t{}\t{status}\t{}\t{}\t{}",
                text(&slice["name"]),
                text(&build["version"]),
                text(&build["origin"]),
                text(&build["published_at"]),
                text(&build["published_by"])
            )?;
        }
    }
    Ok(())
}
