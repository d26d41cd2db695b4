//! `mkopo slice`: deploys slices, through the database of a service that may run meanwhile, or
//! through the console of one that is elsewhere.

use std::{
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    clock::Clock,
    database::Database,
    error::Failure,
    randomness::Randomness,
    settings::{DatabaseSettings, values},
    slices::{self, Build, Bundled, MANIFEST, Mark, SliceName, archive},
};
use anyhow::{Context, bail};
use secrecy::{ExposeSecret, SecretString};
use semver::Version;
use serde_json::{Value, json};
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// What deploying slices needs.
#[derive(clap::Args, Debug)]
pub struct SliceSettings {
    /// Folder that holds the database. The service may run meanwhile.
    #[arg(long, global = true, env = "MKOPO_DATA_DIR", default_value = "data", value_name = "FOLDER")]
    pub data_dir: PathBuf,

    /// Which database.
    #[command(flatten)]
    pub database: DatabaseSettings,

    /// Folder of the built portal that the service serves: its shell is the one that builds have
    /// to fit.
    #[arg(long, global = true, env = "MKOPO_PORTAL_DIR", value_parser = values::folder, value_name = "FOLDER")]
    pub portal_dir: Option<PathBuf>,

    /// Ask the service at this address, instead of its database.
    #[arg(long, global = true, env = "MKOPO_SERVER", value_parser = values::server, value_name = "URL")]
    pub server: Option<String>,

    /// The console's token of that service.
    #[arg(long, global = true, env = "MKOPO_CONSOLE_TOKEN", hide_env_values = true,
          value_parser = values::console_token, value_name = "TOKEN")]
    pub token: Option<SecretString>,

    /// Who has it done, for the trail; who runs the command when not given.
    #[arg(long, global = true, env = "MKOPO_BY", value_parser = values::by, value_name = "NAME")]
    pub by: Option<String>,

    /// What to do.
    #[command(subcommand)]
    pub command: SliceCommand,
}

/// What can be done about slices.
#[derive(clap::Subcommand, Debug)]
pub enum SliceCommand {
    /// Check a build, keep it for good, and make it live.
    Publish {
        /// Folder of the build, or of the package whose `dist` it is.
        #[arg(value_parser = values::folder)]
        folder: PathBuf,

        /// Keep the build and leave live what is; `activate` makes it live later.
        #[arg(long)]
        hold: bool,
    },
    /// Make a build live that is there, older ones too.
    Activate {
        /// The slice, such as mfe-loans.
        name: String,
        /// The build's version.
        version: String,
    },
    /// Make the build live that was before.
    Rollback {
        /// The slice, such as mfe-loans.
        name: String,
    },
    /// Print all builds, and which are live.
    List,
}

/// How long the other service may take: a build has to get there, and be compressed.
const PATIENCE: Duration = Duration::from_mins(1);

/// Does what `settings` say.
pub async fn run(settings: SliceSettings) -> anyhow::Result<()> {
    let SliceSettings { data_dir, database, portal_dir, server, token, by, command } = settings;
    let by = by.unwrap_or_else(who_runs_this);
    if let Some(server) = server {
        let token = token.context("--server needs --token, the console's token there")?;
        let there = Elsewhere { server, token, by };
        return tokio::task::spawn_blocking(move || there.run(command)).await?;
    }
    let database = Database::open_for(database.url(), &data_dir).await?;
    let here = Here { bundled: Bundled::read(portal_dir.as_deref()).await?, database, by };
    let done = here.run(command).await;
    here.database.close().await;
    done
}

/// Machines' pipelines say their name in the environment, as people's shells do.
fn who_runs_this() -> String {
    let names = ["GITHUB_ACTOR", "GITLAB_USER_LOGIN", "LOGNAME", "USER", "USERNAME"];
    let name = names.iter().find_map(|name| std::env::var(name).ok());
    let name = name.unwrap_or_else(|| "unknown".to_owned());
    let plain: String = name.chars().filter(|c| (' '..='~').contains(c)).take(100).collect();
    if plain.is_empty() { "unknown".to_owned() } else { plain }
}

struct Here {
    database: Database,
    bundled: Bundled,
    by: String,
}

impl Here {
    async fn run(&self, command: SliceCommand) -> anyhow::Result<()> {
        match command {
            SliceCommand::Publish { folder, hold } => {
                let build = Build::check(files_in(&folder)?, self.bundled.shell()?)?;
                let (name, version) = (build.name.as_str().to_owned(), build.version.to_string());
                let (slice, is_new) =
                    slices::publish(&self.database, &self.bundled, build, hold, self.mark()).await?;
                tell_published(&name, &version, is_new, slice.live.map(|live| live.to_string()).as_deref())
            }
            SliceCommand::Activate { name, version } => {
                let unknown = Failure::BuildNotFound { name: name.clone(), version: version.clone() };
                let version = Version::parse(&version).map_err(|_| unknown)?;
                let slice =
                    slices::activate(&self.database, &self.bundled, parse(&name)?, version, self.mark())
                        .await?;
                tell_live(&name, slice.live.map(|live| live.to_string()).as_deref())
            }
            SliceCommand::Rollback { name } => {
                let slice =
                    slices::roll_back(&self.database, &self.bundled, parse(&name)?, self.mark()).await?;
                tell_live(&name, slice.live.map(|live| live.to_string()).as_deref())
            }
            SliceCommand::List => {
                let all = slices::all(&mut *self.database.read().await?, &self.bundled).await?;
                tell_all(&serde_json::to_value(all)?)
            }
        }
    }

    fn mark(&self) -> Mark {
        let at = Clock::system().now();
        Mark { id: Randomness::from_os().id(at), at, by: self.by.clone() }
    }
}

fn parse(name: &str) -> Result<SliceName, Failure> {
    SliceName::parse(name).ok_or_else(|| Failure::SliceNotFound(name.to_owned()))
}

struct Elsewhere {
    server: String,
    token: SecretString,
    by: String,
}

impl Elsewhere {
    fn run(&self, command: SliceCommand) -> anyhow::Result<()> {
        match command {
            SliceCommand::Publish { folder, hold } => {
                let archive = archive::write(&files_in(&folder)?)?;
                let hold = if hold { &[("hold", "true")][..] } else { &[] };
                let (status, slice) = self.post("", hold, Some(("application/octet-stream", archive)))?;
                let name = slice["name"].as_str().unwrap_or_default();
                let version = version_in(&folder)?;
                tell_published(name, &version, status == 201, slice["live"].as_str())
            }
            SliceCommand::Activate { name, version } => {
                let body = serde_json::to_vec(&json!({ "version": version }))?;
                let path = format!("/{}/activate", parse(&name)?.as_str());
                let (_, slice) = self.post(&path, &[], Some(("application/json", body)))?;
                tell_live(&name, slice["live"].as_str())
            }
            SliceCommand::Rollback { name } => {
                let path = format!("/{}/rollback", parse(&name)?.as_str());
                let (_, slice) = self.post(&path, &[], None)?;
                tell_live(&name, slice["live"].as_str())
            }
            SliceCommand::List => {
                let request = agent().get(self.address("")).header("authorization", self.bearer());
                let (_, answer) = self.answer(request.call())?;
                tell_all(&answer["slices"])
            }
        }
    }

    fn address(&self, path: &str) -> String {
        format!("{}/console/api/slices{path}", self.server)
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
            .query("by", &self.by)
            .query_pairs(query.iter().copied());
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
        let mut answer = answer.with_context(|| format!("{} can't be reached", self.server))?;
        let status = answer.status().as_u16();
        let text = answer.body_mut().read_to_string().unwrap_or_default();
        let body: Value = serde_json::from_str(&text).unwrap_or_default();
        if !(200..300).contains(&status) {
            match body["error"].as_str() {
                Some(sentence) => bail!("{sentence}"),
                None => bail!("{} answered {status}, and is no Mkopo service", self.server),
            }
        }
        Ok((status, body))
    }
}

fn agent() -> ureq::Agent {
    // A house's own authorities stand where the system's do.
    let roots = rustls_native_certs::load_native_certs().certs;
    let roots = RootCerts::from(roots.iter().map(|root| Certificate::from_der(root).to_owned()));
    // A refusal has a body, which says why.
    ureq::Agent::config_builder()
        .tls_config(TlsConfig::builder().root_certs(roots).build())
        .timeout_global(Some(PATIENCE))
        .http_status_as_error(false)
        .max_redirects(0)
        .build()
        .into()
}

/// The build's folder: the one given, or the `dist` of the package that was given.
fn build_in(folder: &Path) -> PathBuf {
    let dist = folder.join("dist");
    let is_package = !folder.join(MANIFEST).exists() && dist.join(MANIFEST).exists();
    if is_package { dist } else { folder.to_owned() }
}

fn files_in(folder: &Path) -> anyhow::Result<std::collections::BTreeMap<String, Vec<u8>>> {
    let folder = build_in(folder);
    if !folder.join(MANIFEST).exists() {
        bail!("{} is no build of a slice: it has no {MANIFEST}", folder.display());
    }
    is_built_anew(&folder)?;
    archive::read_folder(&folder).with_context(|| format!("can't read the build in {}", folder.display()))
}

fn version_in(folder: &Path) -> anyhow::Result<String> {
    let manifest: Value = serde_json::from_slice(&std::fs::read(build_in(folder).join(MANIFEST))?)?;
    Ok(manifest["metaData"]["buildInfo"]["buildVersion"].as_str().unwrap_or_default().to_owned())
}

/// A version that was raised and not built yet is an easy thing to overlook.
fn is_built_anew(folder: &Path) -> anyhow::Result<()> {
    let Some(package) = folder.parent().map(|parent| parent.join("package.json")) else { return Ok(()) };
    let read = |file: &Path| -> Option<Value> { serde_json::from_slice(&std::fs::read(file).ok()?).ok() };
    let (Some(package), Some(manifest)) = (read(&package), read(&folder.join(MANIFEST))) else {
        return Ok(());
    };
    let built = &manifest["metaData"]["buildInfo"];
    if package["name"] == built["buildName"] && package["version"] != built["buildVersion"] {
        bail!(
            "the build is of version {}, and package.json says {}: build it first",
            built["buildVersion"].as_str().unwrap_or("unknown"),
            package["version"].as_str().unwrap_or("unknown")
        );
    }
    Ok(())
}

fn tell_published(name: &str, version: &str, is_new: bool, live: Option<&str>) -> anyhow::Result<()> {
    let there = if is_new { "is published" } else { "was published before" };
    let standing = match live {
        Some(live) if live == version => "it is live".to_owned(),
        Some(live) => format!("{live} is live"),
        None => "nothing of it is live".to_owned(),
    };
    writeln!(std::io::stdout(), "{name} {version} {there}; {standing}.")?;
    Ok(())
}

fn tell_live(name: &str, live: Option<&str>) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{name} {} is live.", live.unwrap_or("nothing"))?;
    Ok(())
}

/// One line a build: slice, version, standing, where it came from, when and by whom.
fn tell_all(slices: &Value) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for slice in slices.as_array().into_iter().flatten() {
        for build in slice["builds"].as_array().into_iter().flatten() {
            let standing = if build["version"] == slice["live"] {
                "live"
            } else if build["version"] == slice["previous"] {
                "previous"
            } else {
                "-"
            };
            let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
            writeln!(
                out,
                "{}\t{}\t{standing}\t{}\t{}\t{}",
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
