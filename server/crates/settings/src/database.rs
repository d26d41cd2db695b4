//! The settings of the database and the data folder.

use std::path::PathBuf;

use anyhow::Context;

use super::values::secret_in;
use store::{Database, url::DatabaseUrl};

/// The data folder and the database.
#[derive(clap::Args, Clone, Debug)]
pub struct StoreSettings {
    /// Folder that holds the database and the generated secrets.
    #[arg(long, global = true, env = "MKOPO_DATA_DIR", default_value = "data", value_name = "FOLDER")]
    pub data_dir: PathBuf,

    /// Database to use instead of the file in the data folder: `postgres://user:password@host/name`,
    /// which several servers may share (`?sslmode=require` or `verify-full` for TLS), or
    /// `sqlite:path/to/file`.
    #[arg(long, global = true, env = "MKOPO_DATABASE_URL", hide_env_values = true, value_name = "URL")]
    pub database_url: Option<DatabaseUrl>,

    /// File that contains the database URL, for secrets that are mounted as files. A trailing line
    /// break is ignored. `MKOPO_DATABASE_URL` takes precedence.
    #[arg(long, global = true, env = "MKOPO_DATABASE_URL_FILE", value_name = "FILE",
          value_parser = |file: &str| secret_in(file, str::parse::<DatabaseUrl>))]
    pub database_url_file: Option<DatabaseUrl>,
}

impl StoreSettings {
    /// The configured database URL; `None` for the file in the data folder.
    pub fn url(&self) -> Option<&DatabaseUrl> {
        self.database_url.as_ref().or(self.database_url_file.as_ref())
    }

    /// Opens the database, creating it if needed.
    ///
    /// # Errors
    /// A sentence that names the database and the setting, but never a password.
    pub async fn open(&self) -> anyhow::Result<Database> {
        let Some(url) = self.url() else {
            self.create_data_dir()?;
            return Database::open_in(&self.data_dir).await;
        };
        Database::open_named(url, "MKOPO_DATABASE_URL").await
    }

    /// Returns `true` if the database is a file in the data folder that does not exist yet.
    pub fn is_missing(&self) -> bool {
        self.url().is_none() && !self.file_in_data_dir().exists()
    }

    /// Creates the data folder, unless it exists.
    ///
    /// # Errors
    /// A sentence that names the folder and the setting.
    pub fn create_data_dir(&self) -> anyhow::Result<()> {
        let name = self.data_dir.display();
        std::fs::create_dir_all(&self.data_dir).with_context(|| {
            format!("can't create the data folder {name}; set MKOPO_DATA_DIR to one that can be written")
        })
    }

    /// The file of a `SQLite` database.
    ///
    /// # Errors
    /// A sentence that says what to use instead, when the database is on PostgreSQL.
    pub fn database_file(&self) -> anyhow::Result<PathBuf> {
        let Some(url) = self.url() else { return Ok(self.file_in_data_dir()) };
        url.file()
            .map(Into::into)
            .context("MKOPO_DATABASE_URL names a PostgreSQL database; copy it with pg_dump and pg_restore")
    }

    fn file_in_data_dir(&self) -> PathBuf {
        self.data_dir.join("mkopo.db")
    }
}
