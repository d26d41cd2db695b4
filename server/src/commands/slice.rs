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
        self, Build, Bundled, MANIFEST, Mark, Publication, Share, SliceName, archive, deploy,
        deploy::NewToken, rollout, rollout::Change,
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
    #[arg(long, global = true, env = "MKOPO_CONSOLE_TOKEN", hide_env_values = true, allow_hyphen_values = true,
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
        #[arg(long, conflicts_with_all = ["percent", "plan"])]
        hold: bool,

        /// Accept a version below the live one.
        #[arg(long)]
        force: bool,

        /// Who gets the build, instead of everybody.
        #[command(flatten)]
        share: ShareArguments,

        /// Do not take the build back by itself if it fails more often than the one before.
        #[arg(long)]
        no_watch: bool,
    },
    /// Make an existing build live; it may be an older one.
    Activate {
        /// The slice, such as mfe-loans.
        name: String,
        /// The build's version.
        version: String,

        /// Do not take the build back by itself if it fails more often than the one before.
        #[arg(long)]
        no_watch: bool,
    },
    /// Make the previous build live again.
    Rollback {
        /// The slice, such as mfe-loans.
        name: String,
    },
    /// Give a stored build to some browsers, or to more or fewer of them; the others keep the live one.
    Rollout {
        /// The slice, such as mfe-loans.
        name: String,
        /// The build's version.
        version: String,

        /// How many browsers.
        #[command(flatten)]
        share: ShareArguments,

        /// Do not take the build back by itself if it fails more often than the live one.
        #[arg(long)]
        no_watch: bool,
    },
    /// Hold a rollout at its percentage: its plan no longer applies.
    Hold {
        /// The slice, such as mfe-loans.
        name: String,
    },
    /// Make the build that is rolled out live for everybody.
    Promote {
        /// The slice, such as mfe-loans.
        name: String,
    },
    /// End a rollout: everybody gets the live build.
    Abort {
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
    /// List all builds: slice, version, live or previous or its percentage, origin, time and author.
    List {
        /// Print JSON, with the field names of the console's API.
        #[arg(long)]
        json: bool,
    },
}

/// How many browsers get a build.
#[derive(clap::Args, Debug)]
pub struct ShareArguments {
    /// Give the build to so many percent of all browsers, until you change it.
    #[arg(long, value_parser = clap::value_parser!(u8).range(0..=100))]
    percent: Option<u8>,

    /// Give it to more and more browsers: growing percentages, each with how long it lasts, and then
    /// everybody, such as `5:10m,25:30m,100`.
    #[arg(long, conflicts_with = "percent")]
    plan: Option<String>,
}

impl ShareArguments {
    fn share(&self) -> Result<Option<Share>, Failure> {
        Share::from_request(self.percent, self.plan.as_deref())
    }
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
            SliceCommand::Publish { folder, hold, force, share, no_watch } => {
                let share = share.share()?;
                let build = Build::check(files_in(&folder)?, self.bundled.shell()?)?;
                let (name, version) = (build.name.as_str().to_owned(), build.version.to_string());
                let compress_at = Clock::system().unset_now();
                let publication = Publication { hold, share, is_watched: !no_watch, force, compress_at };
                let publishing =
                    slices::publish(&self.database, &self.bundled, build, publication, self.mark());
                let (slice, is_new) = self.record(Kind::SlicePublished, &name, publishing).await?;
                print_published(&version, is_new, &serde_json::to_value(slice)?)
            }
            SliceCommand::Activate { name, version, no_watch } => {
                let (slice, version) = build(&name, &version)?;
                let (database, bundled) = (&self.database, &self.bundled);
                let activating = slices::activate(database, bundled, slice, version, !no_watch, self.mark());
                let slice = self.record(Kind::SliceActivated, &name, activating).await?;
                print_live(&name, slice.live.map(|live| live.to_string()).as_deref())
            }
            SliceCommand::Rollback { name } => {
                let rolling_back =
                    slices::roll_back(&self.database, &self.bundled, parse(&name)?, self.mark());
                let slice = self.record(Kind::SliceRolledBack, &name, rolling_back).await?;
                print_live(&name, slice.live.map(|live| live.to_string()).as_deref())
            }
            SliceCommand::Rollout { name, version, share, no_watch } => {
                let (slice, version) = build(&name, &version)?;
                let share = share.share()?.context(NO_SHARE)?;
                let (database, bundled) = (&self.database, &self.bundled);
                let rolling_out =
                    rollout::roll_out(database, bundled, slice, version, share, !no_watch, self.mark());
                print_rollout(&serde_json::to_value(
                    self.record(Kind::SliceRolledOut, &name, rolling_out).await?,
                )?)
            }
            SliceCommand::Hold { name } => self.change(Change::Hold, &name).await,
            SliceCommand::Promote { name } => self.change(Change::Promote, &name).await,
            SliceCommand::Abort { name } => self.change(Change::Abort, &name).await,
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

    /// Changes the rollout of the slice `name`, and prints what browsers get then.
    async fn change(&self, change: Change, name: &str) -> anyhow::Result<()> {
        let changing = rollout::change(&self.database, &self.bundled, parse(name)?, change, self.mark());
        print_rollout(&serde_json::to_value(self.record(change.kind(), name, changing).await?)?)
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

/// What to say where a rollout has no share.
const NO_SHARE: &str = "give --percent or --plan";

/// A slice and a version of it.
fn build(name: &str, version: &str) -> anyhow::Result<(SliceName, Version)> {
    let unknown = |_| Failure::BuildNotFound { name: name.to_owned(), version: version.to_owned() };
    Ok((parse(name)?, Version::parse(version).map_err(unknown)?))
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
            SliceCommand::Publish { folder, hold, force, share, no_watch } => {
                share.share()?;
                let archive = archive::write(&files_in(&folder)?)?;
                let switch = |is_on: bool| is_on.then(|| "true".to_owned());
                let percent = share.percent.map(|percent| percent.to_string());
                let query = [
                    ("hold", switch(hold)),
                    ("force", switch(force)),
                    ("percent", percent),
                    ("plan", share.plan),
                    ("watch", no_watch.then(|| "false".to_owned())),
                ];
                let query: Vec<_> =
                    query.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))).collect();
                let (status, slice) = self.post("", &query, Some(("application/octet-stream", archive)))?;
                print_published(&version_in(&folder)?, status == 201, &slice)
            }
            SliceCommand::Activate { name, version, no_watch } => {
                let mut body = json!({ "version": version });
                if no_watch {
                    body["watch"] = json!(false);
                }
                let body = serde_json::to_vec(&body)?;
                let path = format!("/{}/activate", parse(&name)?.as_str());
                let (_, slice) = self.post(&path, &[], Some(("application/json", body)))?;
                print_live(&name, slice["live"].as_str())
            }
            SliceCommand::Rollback { name } => {
                let path = format!("/{}/rollback", parse(&name)?.as_str());
                let (_, slice) = self.post(&path, &[], None)?;
                print_live(&name, slice["live"].as_str())
            }
            SliceCommand::Rollout { name, version, share, no_watch } => {
                share.share()?.context(NO_SHARE)?;
                let mut body = json!({ "version": version });
                if no_watch {
                    body["watch"] = json!(false);
                }
                match (share.percent, share.plan) {
                    (Some(percent), _) => body["percent"] = json!(percent),
                    (None, plan) => body["plan"] = json!(plan),
                }
                self.change(&name, "rollout", Some(serde_json::to_vec(&body)?))
            }
            SliceCommand::Hold { name } => self.change(&name, "hold", None),
            SliceCommand::Promote { name } => self.change(&name, "promote", None),
            SliceCommand::Abort { name } => self.change(&name, "abort", None),
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

    /// Changes a rollout of the slice `name`, and prints what browsers get then.
    fn change(&self, name: &str, act: &str, body: Option<Vec<u8>>) -> anyhow::Result<()> {
        let path = format!("/{}/{act}", parse(name)?.as_str());
        let (_, slice) = self.post(&path, &[], body.map(|body| ("application/json", body)))?;
        print_rollout(&slice)
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

fn print_published(version: &str, is_new: bool, slice: &Value) -> anyhow::Result<()> {
    let name = slice["name"].as_str().unwrap_or_default();
    let outcome = if is_new { "is published" } else { "was already published" };
    let live_build = match (slice["live"].as_str(), slice["rollout"]["percent"].as_u64()) {
        (live, Some(percent)) if slice["rollout"]["version"] == version => {
            format!("{percent}% of browsers get it, the others {}", live.unwrap_or("nothing"))
        }
        (Some(live), _) if live == version => "it is live".to_owned(),
        (Some(live), _) => format!("{live} is live"),
        (None, _) => "no build of it is live".to_owned(),
    };
    writeln!(std::io::stdout(), "{name} {version} {outcome}; {live_build}.")?;
    Ok(())
}

/// Prints what browsers get of a slice.
fn print_rollout(slice: &Value) -> anyhow::Result<()> {
    let (name, live) = (slice["name"].as_str().unwrap_or_default(), slice["live"].as_str());
    let rollout = &slice["rollout"];
    let Some((version, percent)) = rollout["version"].as_str().zip(rollout["percent"].as_u64()) else {
        return print_live(name, live);
    };
    let plan = rollout["plan"].as_str().map(|plan| format!(", by the plan {plan}")).unwrap_or_default();
    let live = live.unwrap_or("nothing");
    writeln!(std::io::stdout(), "{percent}% of browsers get {name} {version}{plan}; the others get {live}.")?;
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

/// One line per build: slice, version, status (with the percentage of a rollout), origin, and when and by whom it was published.
fn print_all(slices: &Value, is_json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if is_json {
        writeln!(out, "{slices:#}")?;
        return Ok(());
    }
    for slice in slices.as_array().into_iter().flatten() {
        for build in slice["builds"].as_array().into_iter().flatten() {
            let rollout = &slice["rollout"];
            let share = rollout["percent"].as_u64().filter(|_| build["version"] == rollout["version"]);
            let share = share.map(|percent| format!("{percent}%"));
            let status = if let Some(share) = &share {
                share
            } else if build["version"] == slice["live"] {
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
