//! The URL of a database: `postgres://user:password@host/name`, or `sqlite:path/to/file`.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use sqlx::postgres::PgConnectOptions;

/// The URL of a database. Its output never includes the password.
#[derive(Clone)]
pub struct DatabaseUrl {
    pub(super) engine: Engine,
    /// `true` if there is a pooler in transaction mode.
    pub(super) is_pooled: bool,
}

/// The parameter for a pooler in transaction mode between server and database.
const POOLED: &str = "statement-cache-capacity=0";

/// The parameters of a PostgreSQL URL that sqlx knows; it ignores others, such as a misspelt `sslmode`. `options[name]`
/// is one, too.
const PARAMETERS: [&str; 18] = [
    "sslmode",
    "ssl-mode",
    "sslrootcert",
    "ssl-root-cert",
    "ssl-ca",
    "sslcert",
    "ssl-cert",
    "sslkey",
    "ssl-key",
    "statement-cache-capacity",
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
    "options",
];

#[derive(Clone)]
pub(super) enum Engine {
    Sqlite(PathBuf),
    Postgres(Box<PgConnectOptions>),
}

impl DatabaseUrl {
    /// Returns whether several servers can share the database.
    pub fn is_shared(&self) -> bool {
        matches!(self.engine, Engine::Postgres(_))
    }

    /// Returns whether the database is a file that does not exist.
    pub fn is_missing(&self) -> bool {
        matches!(&self.engine, Engine::Sqlite(file) if !file.exists())
    }

    /// The path of the file; `None` for PostgreSQL.
    pub fn file(&self) -> Option<&Path> {
        match &self.engine {
            Engine::Sqlite(file) => Some(file),
            Engine::Postgres(_) => None,
        }
    }
}

impl FromStr for DatabaseUrl {
    type Err = String;

    /// # Errors
    /// A sentence that says what is expected, without `text`, which may contain a password.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            "give postgres://user:password@host:5432/name, or sqlite:path/to/file for a file on this machine"
                .to_owned()
        };
        let (kind, rest) = text.split_once(':').ok_or_else(wrong)?;
        let parameters = text.split_once('?').map_or("", |(_, parameters)| parameters);
        let engine = match kind {
            "sqlite" => {
                let file = rest.strip_prefix("//").unwrap_or(rest);
                if file.is_empty() || file.contains(['?', '#']) || file == ":memory:" {
                    return Err(wrong());
                }
                Engine::Sqlite(file.into())
            }
            "postgres" | "postgresql" if rest.starts_with("//") => {
                let options: PgConnectOptions = text.parse().map_err(|_| wrong())?;
                if options.get_database().is_none() || text.contains('#') {
                    return Err(wrong());
                }
                if !form_urlencoded::parse(parameters.as_bytes()).all(|(name, _)| is_parameter(&name)) {
                    let known = PARAMETERS.join(", ");
                    return Err(format!("a parameter is unknown; the known ones are {known} and options[…]"));
                }
                Engine::Postgres(Box::new(options))
            }
            _ => return Err(wrong()),
        };
        let is_pooled = parameters.split('&').any(|parameter| parameter == POOLED);
        Ok(Self { engine, is_pooled })
    }
}

fn is_parameter(name: &str) -> bool {
    PARAMETERS.contains(&name) || (name.starts_with("options[") && name.ends_with(']'))
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.engine {
            Engine::Sqlite(file) => write!(f, "sqlite:{}", file.display()),
            Engine::Postgres(options) => {
                write!(f, "postgres://{}@", options.get_username())?;
                match options.get_socket() {
                    Some(folder) => write!(f, "{}", folder.display())?,
                    None => write!(f, "{}:{}", options.get_host(), options.get_port())?,
                }
                write!(f, "/{}", options.get_database().unwrap_or_default())
            }
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_prints_without_its_password() {
        let url: DatabaseUrl =
            "postgres://mkopo:s3cret@db.example.com:6432/loans?sslmode=require".parse().unwrap();
        assert_eq!(url.to_string(), "postgres://mkopo@db.example.com:6432/loans");
        assert_eq!(format!("{url:?}"), "DatabaseUrl(postgres://mkopo@db.example.com:6432/loans)");
        assert!(url.is_shared());
        for text in ["sqlite:data/mkopo.db", "sqlite://data/mkopo.db"] {
            assert_eq!(text.parse::<DatabaseUrl>().unwrap().to_string(), "sqlite:data/mkopo.db");
        }
    }

    #[test]
    fn an_invalid_url_is_refused_without_being_repeated() {
        for text in [
            "",
            "mkopo.db",
            "mysql://mkopo:s3cret@localhost/loans",
            "postgres:s3cret",
            "postgres://mkopo:s3cret@localhost",
            "postgres://mkopo:s3cret@localhost:no-port/loans",
            "postgres://mkopo:s3cret@localhost/loans?sslmode=perhaps",
            "postgres://mkopo:s3cret@localhost/loans#?sslmode=require",
            "sqlite:",
            "sqlite::memory:",
            "sqlite:file?mode=ro",
        ] {
            let refused = text.parse::<DatabaseUrl>().unwrap_err();
            assert!(refused.starts_with("give postgres://user:password@host") && !refused.contains("s3cret"));
        }
    }

    #[test]
    fn an_unknown_parameter_is_refused() {
        let url = "postgres://mkopo:s3cret@localhost/loans?statement-cache-capacity=0";
        for parameters in [
            "&sslmode=require",
            "&ssl%6Dode=require",
            "&options[jit]=off&options%5Bjit%5D=off",
            "&user=mkopo&",
        ] {
            assert!(format!("{url}{parameters}").parse::<DatabaseUrl>().unwrap().is_pooled, "{parameters}");
        }
        for parameters in ["&sslmod=require", "&SSLMODE=require", "&options[jit=off", "&pgbouncer=true"] {
            let refused = format!("{url}{parameters}").parse::<DatabaseUrl>().unwrap_err();
            assert!(refused.contains("unknown") && !refused.contains("s3cret"), "{refused}");
        }
    }
}
