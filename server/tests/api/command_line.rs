//! The real binary: errors at start, and `mkopo user`.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use insta::assert_snapshot;
use serde_json::Value;
use store::Connection;

use crate::{
    test_app::{CONSOLE_TOKEN, JWT_SECRET, Listener, TestApp},
    test_store,
};

pub fn mkopo() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mkopo"));
    command.env_clear().stdin(Stdio::null());
    command
}

/// `mkopo serve`, with the secrets that servers on PostgreSQL need.
pub fn serve() -> Command {
    let mut command = mkopo();
    command.args(["serve", "--listen", "127.0.0.1:0"]);
    command.args(["--jwt-secret", JWT_SECRET, "--console-token", CONSOLE_TOKEN]);
    command
}

/// The error of a start with one setting. The data folder is a fresh one unless it is the setting.
fn start_with(variable: &str, value: &str) -> String {
    start_with_all(&[(variable, value)])
}

fn start_with_all(variables: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut process = mkopo()
        .arg("serve")
        .env("MKOPO_LISTEN", "127.0.0.1:0")
        .env("MKOPO_DATA_DIR", folder.path())
        .envs(variables.iter().copied())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    if !line.is_empty() {
        process.kill().unwrap();
    }
    let output = process.wait_with_output().unwrap();
    assert!(line.is_empty(), "the server started with {variables:?}: {line}");
    error_line(&output)
}

/// The settings that the image or the Compose file sets itself, and those of the product's own container.
const SET_BY_COMPOSE: [&str; 5] =
    ["MKOPO_CONSOLE_LISTEN", "MKOPO_DATA_DIR", "MKOPO_FROM", "MKOPO_LISTEN", "MKOPO_PORTAL_DIR"];

#[test]
fn the_compose_file_passes_each_setting_on_and_the_docs_describe_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let compose = fs::read_to_string(root.join("docker-compose.yml")).unwrap();
    let docs: String = fs::read_dir(root.join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let help = mkopo().args(["serve", "--help"]).output().unwrap().stdout;
    let help = String::from_utf8(help).unwrap();
    let (settings, described) = (settings_in(&help), settings_in(&docs));
    assert!(settings.len() > 40, "{settings:?}");
    for setting in settings {
        assert!(described.contains(setting), "Describe {setting} in a page of docs/.");
        let is_passed = compose.contains(&format!(" {setting}:"));
        assert_ne!(
            is_passed,
            SET_BY_COMPOSE.contains(&setting),
            "Pass {setting} on in docker-compose.yml, or name it in SET_BY_COMPOSE."
        );
    }
}

fn settings_in(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !(c.is_ascii_uppercase() || c == '_'));
    words.filter(|word| word.starts_with("MKOPO_")).collect()
}

/// What a successful run prints.
pub fn printed(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The one line that a failed run prints.
pub fn error_line(output: &Output) -> String {
    let line = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
    assert!(!output.status.success(), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    line
}

/// Runs a command that calls the console of `app`, on another thread: this one answers it.
pub async fn command(app: &TestApp, arguments: &[&str]) -> Output {
    let server = app.serve(Listener::Console).await;
    let mut command = mkopo();
    command.args(arguments).args(["--server", &server, "--token", CONSOLE_TOKEN]);
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

/// Adds an account with `mkopo user add`, on another thread: the command may have to wait for a write of a service on
/// this one.
async fn add_user(store: &[String], arguments: &[&str], password: &str) -> Output {
    let mut command = mkopo();
    command.args(["user", "add"]).args(arguments).args(store);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let password = password.to_owned();
    let run = tokio::task::spawn_blocking(move || {
        let mut child = command.spawn().unwrap();
        // The command may exit without reading all of it, or any.
        _ = child.stdin.take().unwrap().write_all(password.as_bytes());
        child.wait_with_output().unwrap()
    });
    run.await.unwrap()
}

/// Who is added, except for the e-mail address.
const GRACE: [&str; 8] =
    ["--first-name", "Grace", "--last-name", "Wekesa", "--phone", "0712 345 678", "--role", "supervisor"];

// S-73, S-77, S-116
#[test]
fn every_bad_setting_stops_the_start_with_one_sentence_that_names_it() {
    let said: Vec<String> = [
        ("MKOPO_LISTEN", "8080"),
        ("MKOPO_LISTEN", ""),
        ("MKOPO_CONSOLE_LISTEN", "8081"),
        ("MKOPO_DEMO", "perhaps"),
        ("MKOPO_JWT_SECRET", "a-short-secret-0123456789"),
        ("MKOPO_CONSOLE_TOKEN", "fifteen-letters"),
        ("MKOPO_CONSOLE_TOKEN", "sixteen letters and spaces"),
        ("MKOPO_SESSION_MINUTES", "0"),
        ("MKOPO_SESSION_MINUTES", "half an hour"),
        ("MKOPO_TRUSTED_PROXIES", "10.0.0.1,proxy"),
        ("MKOPO_PUBLIC_URL", "portal.example.com"),
        ("MKOPO_PUBLIC_URL", "https://mkopo:password@portal.example.com"),
        ("MKOPO_PUBLIC_URL", "https://portal.example.com#loans"),
        ("MKOPO_SCREENS", "LIVE"),
        ("MKOPO_PROVIDER_FAULTS", "Payouts"),
        ("MKOPO_PROVIDER_URL", "https://mkopo:a-provider-password@provider.example.com"),
        ("MKOPO_BEHIND_TLS", "maybe"),
        ("MKOPO_STORIES", "/no/such/folder"),
        ("MKOPO_BRAND", " "),
        ("MKOPO_PRODUCT", ""),
        ("MKOPO_TIME_ZONE", "Nairobi"),
        ("MKOPO_TIME_ZONE", "Africa\nNairobi"),
        ("MKOPO_PORTAL_DIR", "/no/such/folder"),
        ("MKOPO_LOG", "mkopo=loud"),
        ("MKOPO_LOG", "warning"),
        ("MKOPO_LOG", "mkopo=debug, info"),
        ("MKOPO_LOG", ""),
        ("MKOPO_SMTP_URL", "mail.example.com"),
        ("MKOPO_SMTP_URL", "http://mail.example.com"),
        ("MKOPO_SMTP_URL", "smtp://mkopo:a-mail-password@mail.example.com"),
        ("MKOPO_SMTP_URL", "smtp://mail.example.com?tsl=required"),
        ("MKOPO_SMTP_URL", "smtp://mail.example.com?TLS=required"),
        ("MKOPO_SMTP_URL", "smtp://mkopo:a-mail-password@mail.example.com?tls=opportunistic&tls=required"),
        ("MKOPO_SMTP_URL", "smtp://mail.example.com/#?tls=required"),
        ("MKOPO_SMTP_URL", "smtps://mail.example.com/portal.example.com"),
        ("MKOPO_SMTP_FROM", "Mkopo"),
        ("MKOPO_SMTP_FROM", "Mkopo <Müller@example.com>"),
        ("MKOPO_DATABASE_URL", "mysql://mkopo:a-database-password@localhost/mkopo"),
        ("MKOPO_DATABASE_URL", "postgres://mkopo:a-database-password@localhost"),
        ("MKOPO_DATABASE_URL", "postgres://mkopo:a-database-password@localhost/mkopo?sslmod=verify-full"),
        ("MKOPO_DATABASE_URL", "postgres://mkopo:a-database-password@localhost/mkopo?SSLMODE=verify-full"),
    ]
    .into_iter()
    .map(|(variable, value)| {
        let said = start_with(variable, value);
        assert!(said.contains(variable), "{said}");
        assert!(!said.contains("a-short-secret") && !said.contains("a-mail-password"), "{said}");
        assert!(!said.contains("a-database-password") && !said.contains("a-provider-password"), "{said}");
        said
    })
    .collect();
    assert_snapshot!(said.join("\n"), @"
    mkopo: MKOPO_LISTEN can't be '8080': give an address and a port such as 127.0.0.1:8080.
    mkopo: MKOPO_LISTEN can't be '': give an address and a port such as 127.0.0.1:8080.
    mkopo: MKOPO_CONSOLE_LISTEN can't be '8081': give an address and a port such as 127.0.0.1:8081, or off.
    mkopo: MKOPO_DEMO can't be 'perhaps': give true or false.
    mkopo: MKOPO_JWT_SECRET is invalid: give at least 32 bytes, or leave it unset to have one generated.
    mkopo: MKOPO_CONSOLE_TOKEN is invalid: give at least 16 letters, digits, dashes, dots, underscores or tildes, or leave it unset to have one generated.
    mkopo: MKOPO_CONSOLE_TOKEN is invalid: give at least 16 letters, digits, dashes, dots, underscores or tildes, or leave it unset to have one generated.
    mkopo: MKOPO_SESSION_MINUTES can't be '0': give whole minutes from 1 to 43200.
    mkopo: MKOPO_SESSION_MINUTES can't be 'half an hour': give whole minutes from 1 to 43200.
    mkopo: MKOPO_TRUSTED_PROXIES can't be 'proxy': give addresses or networks such as 10.0.0.0/8, separated by commas.
    mkopo: MKOPO_PUBLIC_URL can't be 'portal.example.com': give an address such as https://portal.example.com.
    mkopo: MKOPO_PUBLIC_URL can't be 'https://mkopo:password@portal.example.com': give an address such as https://portal.example.com.
    mkopo: MKOPO_PUBLIC_URL can't be 'https://portal.example.com#loans': give an address such as https://portal.example.com.
    mkopo: MKOPO_SCREENS can't be 'LIVE': give specified or live.
    mkopo: MKOPO_PROVIDER_FAULTS can't be 'Payouts': give payouts.
    mkopo: MKOPO_PROVIDER_URL is invalid: a provider's address has no password; calls are authorised by their session.
    mkopo: MKOPO_BEHIND_TLS can't be 'maybe': give true or false.
    mkopo: MKOPO_STORIES can't be '/no/such/folder': give a folder that exists.
    mkopo: MKOPO_BRAND can't be ' ': give a name of 1 to 64 characters that can be seen.
    mkopo: MKOPO_PRODUCT can't be '': give a name of 1 to 64 characters that can be seen.
    mkopo: MKOPO_TIME_ZONE can't be 'Nairobi': give the name of an IANA time zone such as Africa/Nairobi.
    mkopo: MKOPO_TIME_ZONE can't be 'AfricaNairobi': give the name of an IANA time zone such as Africa/Nairobi.
    mkopo: MKOPO_PORTAL_DIR can't be '/no/such/folder': give a folder that exists.
    mkopo: MKOPO_LOG can't be 'mkopo=loud': give a level such as info, or target=level pairs separated by commas.
    mkopo: MKOPO_LOG can't be 'warning': give a level such as info, or target=level pairs separated by commas.
    mkopo: MKOPO_LOG can't be 'mkopo=debug, info': give a level such as info, or target=level pairs separated by commas.
    mkopo: MKOPO_LOG can't be '': give a level such as info, or target=level pairs separated by commas.
    mkopo: MKOPO_SMTP_URL is invalid: give a mail server such as smtps://user:password@mail.example.com.
    mkopo: MKOPO_SMTP_URL is invalid: give a mail server such as smtps://user:password@mail.example.com.
    mkopo: MKOPO_SMTP_URL is invalid: a password must not be sent unencrypted; use smtps:// or add ?tls=required.
    mkopo: MKOPO_SMTP_URL is invalid: its only parameter is tls: ?tls=required or ?tls=opportunistic.
    mkopo: MKOPO_SMTP_URL is invalid: its only parameter is tls: ?tls=required or ?tls=opportunistic.
    mkopo: MKOPO_SMTP_URL is invalid: its only parameter is tls: ?tls=required or ?tls=opportunistic.
    mkopo: MKOPO_SMTP_URL is invalid: give a mail server such as smtps://user:password@mail.example.com.
    mkopo: MKOPO_SMTP_URL is invalid: give a mail server such as smtps://user:password@mail.example.com.
    mkopo: MKOPO_SMTP_FROM can't be 'Mkopo': give an address such as no-reply@example.com.
    mkopo: MKOPO_SMTP_FROM can't be 'Mkopo <Müller@example.com>': give an address such as no-reply@example.com.
    mkopo: MKOPO_DATABASE_URL is invalid: give postgres://user:password@host:5432/name, or sqlite:path/to/file for a file on this machine.
    mkopo: MKOPO_DATABASE_URL is invalid: give postgres://user:password@host:5432/name, or sqlite:path/to/file for a file on this machine.
    mkopo: MKOPO_DATABASE_URL is invalid: a parameter is unknown; the known ones are sslmode, ssl-mode, sslrootcert, ssl-root-cert, ssl-ca, sslcert, ssl-cert, sslkey, ssl-key, statement-cache-capacity, host, hostaddr, port, dbname, user, password, application_name, options and options[…].
    mkopo: MKOPO_DATABASE_URL is invalid: a parameter is unknown; the known ones are sslmode, ssl-mode, sslrootcert, ssl-root-cert, ssl-ca, sslcert, ssl-cert, sslkey, ssl-key, statement-cache-capacity, host, hostaddr, port, dbname, user, password, application_name, options and options[…].
    ");
}

#[test]
fn settings_without_effect_or_that_contradict_each_other_stop_the_start() {
    const PROVIDER: (&str, &str) = ("MKOPO_PROVIDER_URL", "https://provider.example.com");
    const MAIL: (&str, &str) = ("MKOPO_SMTP_URL", "smtps://mail.example.com");
    const ADDRESS: &str = "https://portal.example.com";
    let said = [
        &[("MKOPO_FROM", "pr-12.sandbox")][..],
        &[("MKOPO_PROVIDER_CA", "ca.pem")],
        &[("MKOPO_PROVIDER_TIMEOUT", "20")],
        &[("MKOPO_PROVIDER_FAULTS", "payouts"), ("MKOPO_TOOLS", "true")],
        &[("MKOPO_PROVIDER_FAULTS", "payouts"), PROVIDER],
        &[("MKOPO_TOOLS", "true"), ("MKOPO_CONSOLE_LISTEN", "off")],
        &[("MKOPO_CONSOLE_PUBLIC_URL", ADDRESS), ("MKOPO_CONSOLE_LISTEN", "off")],
        &[("MKOPO_CONSOLE_PUBLIC_URL", ADDRESS), ("MKOPO_PUBLIC_URL", ADDRESS)],
        &[("MKOPO_BEHIND_TLS", "true"), ("MKOPO_PUBLIC_URL", "http://portal.example.com")],
        &[("MKOPO_SANDBOX_MAIL_DOMAINS", "example.com"), ("MKOPO_DEMO", "true")],
        &[MAIL],
    ]
    .map(start_with_all);
    assert_snapshot!(said.join("\n"), @"
    mkopo: MKOPO_FROM needs demo mode: nothing in a sandbox is real
    mkopo: MKOPO_PROVIDER_CA needs MKOPO_PROVIDER_URL
    mkopo: MKOPO_PROVIDER_TIMEOUT needs MKOPO_PROVIDER_URL
    mkopo: MKOPO_PROVIDER_FAULTS needs MKOPO_PROVIDER_URL and MKOPO_TOOLS=true
    mkopo: MKOPO_PROVIDER_FAULTS needs MKOPO_PROVIDER_URL and MKOPO_TOOLS=true
    mkopo: MKOPO_TOOLS=true needs the console, which is off (MKOPO_CONSOLE_LISTEN)
    mkopo: MKOPO_CONSOLE_PUBLIC_URL needs the console, which is off (MKOPO_CONSOLE_LISTEN)
    mkopo: MKOPO_CONSOLE_PUBLIC_URL needs an address other than MKOPO_PUBLIC_URL
    mkopo: MKOPO_BEHIND_TLS=true needs a MKOPO_PUBLIC_URL with https://
    mkopo: MKOPO_SANDBOX_MAIL_DOMAINS needs MKOPO_SMTP_URL
    mkopo: MKOPO_SMTP_URL needs MKOPO_SMTP_FROM, an address of your own
    ");
}

#[test]
fn a_bad_setting_of_a_command_within_a_command_is_named_and_no_password_is_printed() {
    let provider = "https://mkopo:a-password@provider.example.com";
    let said = [
        (&["data", "copy"][..], "MKOPO_COPY_TO", "postgres://mkopo:a-password@db/x?sslmode=verify_full"),
        (&["data", "copy"], "MKOPO_COPY_FROM", "mysql://mkopo:a-password@db/x"),
        (&["data", "backup", "-"], "MKOPO_DATABASE_URL", "mysql://mkopo:a-password@db/x"),
        (&["user", "list"], "MKOPO_INSECURE", "maybe"),
        (&["provider", "check", "--email", "agent@mkopo.test"], "MKOPO_PROVIDER_URL", provider),
    ]
    .map(|(arguments, variable, value)| {
        let mut command = mkopo();
        command.env("MKOPO_COPY_FROM", "sqlite:mkopo.db").env("MKOPO_COPY_TO", "sqlite:copy.db");
        error_line(&command.args(arguments).env(variable, value).output().unwrap())
    });
    assert_snapshot!(said.join("\n"), @"
    mkopo: MKOPO_COPY_TO is invalid: give postgres://user:password@host:5432/name, or sqlite:path/to/file for a file on this machine.
    mkopo: MKOPO_COPY_FROM is invalid: give postgres://user:password@host:5432/name, or sqlite:path/to/file for a file on this machine.
    mkopo: MKOPO_DATABASE_URL is invalid: give postgres://user:password@host:5432/name, or sqlite:path/to/file for a file on this machine.
    mkopo: MKOPO_INSECURE can't be 'maybe': give true or false.
    mkopo: MKOPO_PROVIDER_URL is invalid: a provider's address has no password; calls are authorised by their session.
    ");
}

#[test]
fn a_command_without_a_required_setting_names_its_option() {
    let copied = mkopo().args(["data", "copy"]).output().unwrap();
    assert!(!copied.status.success());
    let said = String::from_utf8_lossy(&copied.stderr);
    assert!(said.contains("--from <URL>") && said.contains("--to <URL>"), "{said}");
}

#[test]
fn a_variable_of_traces_that_can_not_be_read_stops_the_start_and_no_secret_is_printed() {
    const NO_ADDRESS: &str = "OTEL_EXPORTER_OTLP_ENDPOINT is not an address such as http://jaeger:4318";
    let with = |variable, value| {
        start_with_all(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9"), (variable, value)])
    };
    for (variable, value, reason) in [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "u:s3cret@jaeger:4318", NO_ADDRESS),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://u:s3cret@[::1", NO_ADDRESS),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "ftp://jaeger:4318", NO_ADDRESS),
        (
            "OTEL_EXPORTER_OTLP_TIMEOUT",
            "10s",
            "OTEL_EXPORTER_OTLP_TIMEOUT is 10s; it can be a whole number from 1 to 1000000",
        ),
        (
            "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
            "0",
            "OTEL_EXPORTER_OTLP_TIMEOUT is 0; it can be a whole number from 1 to 1000000",
        ),
        (
            "OTEL_BSP_MAX_QUEUE_SIZE",
            "1000001",
            "OTEL_BSP_MAX_QUEUE_SIZE is 1000001; it can be a whole number from 1 to 1000000",
        ),
        (
            "OTEL_BSP_SCHEDULE_DELAY",
            "0",
            "OTEL_BSP_SCHEDULE_DELAY is 0; it can be a whole number from 1 to 1000000",
        ),
        (
            "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
            "-1",
            "OTEL_BSP_MAX_EXPORT_BATCH_SIZE is -1; it can be a whole number from 1 to 1000000",
        ),
        ("OTEL_TRACES_EXPORTER", "zipkin", "OTEL_TRACES_EXPORTER is zipkin; it can be otlp or none"),
        (
            "OTEL_EXPORTER_OTLP_HEADERS",
            "authorization=Bearer s3cret,s3cret",
            "OTEL_EXPORTER_OTLP_HEADERS: number 2 is not a header such as name=value",
        ),
        (
            "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
            "two words=s3cret",
            "OTEL_EXPORTER_OTLP_HEADERS: number 1 is not a header such as name=value",
        ),
        (
            "OTEL_EXPORTER_OTLP_COMPRESSION",
            "gzip",
            "OTEL_EXPORTER_OTLP_COMPRESSION is gzip; it can only be none",
        ),
        (
            "OTEL_EXPORTER_OTLP_CERTIFICATE",
            "/no/such/file",
            "OTEL_EXPORTER_OTLP_CERTIFICATE can't be read: /no/such/file",
        ),
        (
            "OTEL_EXPORTER_OTLP_CERTIFICATE",
            "/dev/null",
            "OTEL_EXPORTER_OTLP_CERTIFICATE has no certificate: /dev/null",
        ),
    ] {
        let error = with(variable, value);
        assert!(error.contains(reason) && !error.contains("s3cret"), "{error}");
    }
}

#[test]
fn a_database_of_a_newer_version_stops_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let data_dir = folder.path().to_str().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
                     VALUES (9999, 'of next year', TRUE, '', 1)";
        let database = test_store::open(folder.path()).await;
        let migrate =
            database.write(async move |connection: &mut Connection| Ok(connection.command(newer).await?));
        migrate.await.unwrap();
        database.close().await;
    });
    let said = error_line(&serve().args(test_store::options(folder.path())).output().unwrap());
    let setting = if test_store::is_postgres() { "MKOPO_DATABASE_URL" } else { "MKOPO_DATA_DIR" };
    assert!(said.contains("was created by a newer version of mkopo") && said.contains(setting), "{said}");
    assert!(test_store::is_postgres() || said.contains(data_dir), "{said}");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn an_unusable_postgresql_stops_the_start_without_printing_its_password_on_postgresql() {
    let folder = tempfile::tempdir().unwrap();
    let url = test_store::url(folder.path()).unwrap();
    let (server, database) = url.rsplit_once('/').unwrap();
    let server = server.split_once('@').unwrap().1;
    test_store::administer("DROP ROLE IF EXISTS guarded");
    test_store::administer("CREATE ROLE guarded LOGIN PASSWORD 'the-right-password'");
    test_store::administer(&format!("ALTER DATABASE {database} SET default_transaction_read_only = on"));
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_at = silent.local_addr().unwrap();
    let said: Vec<String> = [
        format!("postgres://guarded:a-wrong-password@{server}/{database}"),
        format!("postgres://mkopo:a-wrong-password@{server}/no_such_database"),
        format!("postgres://mkopo:a-wrong-password@{server}/{database}"),
        format!("postgres://mkopo:a-wrong-password@{server}/{database}?sslmode=require"),
        format!("postgres://mkopo:a-wrong-password@127.0.0.1:9/{database}"),
        format!("postgres://mkopo:a-wrong-password@{silent_at}/{database}"),
    ]
    .into_iter()
    .map(|url| {
        let said = error_line(&serve().env("MKOPO_DATABASE_URL", url).output().unwrap());
        assert!(said.contains("MKOPO_DATABASE_URL") && !said.contains("a-wrong-password"), "{said}");
        said.replace(server, "[server]")
            .replace(database, "[database]")
            .replace(&silent_at.to_string(), "[silent]")
    })
    .collect();
    assert_snapshot!(said.join("\n"), @r#"
    mkopo: can't open the database postgres://guarded@[server]/[database]; set MKOPO_DATABASE_URL to one that can be written: password authentication failed for user "guarded"
    mkopo: can't open the database postgres://mkopo@[server]/no_such_database; set MKOPO_DATABASE_URL to one that can be written: database "no_such_database" does not exist
    mkopo: can't open the database postgres://mkopo@[server]/[database]; set MKOPO_DATABASE_URL to one that can be written: it is read-only
    mkopo: can't open the database postgres://mkopo@[server]/[database]; set MKOPO_DATABASE_URL to one that can be written: error occurred while attempting to establish a TLS connection: server does not support TLS
    mkopo: can't open the database postgres://mkopo@127.0.0.1:9/[database]; set MKOPO_DATABASE_URL to one that can be written: Connection refused (os error 111)
    mkopo: the database postgres://mkopo@[silent]/[database] does not answer in time: it may be down, or this machine too busy. Start again when it answers, or set MKOPO_DATABASE_URL to another
    "#);
}

// S-80
#[test]
fn on_postgresql_the_shared_secrets_are_required() {
    let start = |secret: (&str, &str)| {
        start_with_all(&[("MKOPO_DATABASE_URL", "postgres://mkopo:a-password@127.0.0.1:1/mkopo"), secret])
    };
    assert_snapshot!(start(("MKOPO_CONSOLE_TOKEN", CONSOLE_TOKEN)), @"mkopo: MKOPO_JWT_SECRET is missing: on PostgreSQL it is required, and must be the same on all servers");
    assert_snapshot!(start(("MKOPO_JWT_SECRET", JWT_SECRET)), @"mkopo: MKOPO_CONSOLE_TOKEN is missing: on PostgreSQL it is required, and must be the same on all servers");
}

#[test]
fn a_variable_that_is_no_setting_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = serve();
    command.arg("--data-dir").arg(folder.path()).env("MKOPO_PAYOUT_MAXIMUM", "5000");
    let mut service = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let log = BufReader::new(service.stderr.take().unwrap()).lines().map(Result::unwrap);
    let start: Vec<_> = log.take_while(|line| !line.contains("listening")).collect();
    service.kill().unwrap();
    service.wait().unwrap();
    assert!(
        start.iter().any(|line| line.contains("no setting") && line.contains("MKOPO_PAYOUT_MAXIMUM")),
        "{start:?}"
    );
}

#[test]
fn a_taken_port_stops_the_start() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let said = start_with("MKOPO_LISTEN", &address).replace(&address, "[address]");
    assert_snapshot!(said, @"mkopo: can't listen on [address]; set MKOPO_LISTEN to a free address and port: Address already in use (os error 98)");
    let said = start_with("MKOPO_CONSOLE_LISTEN", &address).replace(&address, "[address]");
    assert_snapshot!(said, @"mkopo: can't listen on [address]; set MKOPO_CONSOLE_LISTEN to a free address and port: Address already in use (os error 98)");
}

#[test]
fn an_unusable_data_folder_stops_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let no_database = folder.path().join("no-database");
    std::fs::create_dir_all(no_database.join("mkopo.db")).unwrap();
    let no_secret = folder.path().join("no-secret");
    std::fs::create_dir_all(no_secret.join("jwt.secret")).unwrap();
    let damaged = folder.path().join("damaged");
    std::fs::create_dir(&damaged).unwrap();
    std::fs::write(damaged.join("mkopo.db"), "this is not a database, despite its name").unwrap();
    // Not even root can create a folder in /proc.
    let not_writable = PathBuf::from("/proc/mkopo");
    for data_dir in [file.clone(), file.join("under"), no_database, no_secret, damaged.clone(), not_writable]
    {
        let said = start_with("MKOPO_DATA_DIR", data_dir.to_str().unwrap());
        assert!(!said.contains("jwt.secret") || said.contains("can't read"), "{said}");
        let way_out = if data_dir == damaged { "is damaged; restore a backup" } else { "MKOPO_DATA_DIR" };
        assert!(said.contains(way_out) && said.contains(data_dir.to_str().unwrap()), "{said}");
    }
}

// S-82
#[tokio::test]
async fn the_files_of_the_service_are_for_its_user_only_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("data");
    let mut service = Command::new("sh")
        .args(["-c", "umask 000; exec \"$0\" serve --demo true --listen 127.0.0.1:0 \"$@\""])
        .args([env!("CARGO_BIN_EXE_mkopo"), "--data-dir"])
        .arg(&folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // It prints the console's address when it is ready.
    let output = BufReader::new(service.stdout.take().unwrap());
    let lines = tokio::task::spawn_blocking(move || {
        output.lines().map_while(Result::ok).find(|line| line.contains("Console"))
    });
    let is_ready = lines.await.unwrap().is_some();
    let backup = parent.path().join("backup.db");
    let backed_up = Command::new("sh")
        .args(["-c", "umask 000; exec \"$0\" data backup \"$@\""])
        .args([env!("CARGO_BIN_EXE_mkopo"), "--data-dir"])
        .args([&folder, &backup])
        .output()
        .unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let mut files: Vec<(String, u32)> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|file| file.unwrap())
        .map(|file| (file.file_name().into_string().unwrap(), mode(&file.path())))
        .collect();
    files.sort();
    service.kill().unwrap();
    service.wait().unwrap();
    assert!(is_ready);
    assert_eq!(mode(&folder), 0o700);
    printed(backed_up);
    assert_eq!(mode(&backup), 0o600);
    let names = ["console.token", "jwt.secret", "mkopo.db", "mkopo.db-shm", "mkopo.db-wal", "mkopo.db.lock"];
    assert_eq!(files, names.map(|name| (name.to_owned(), 0o600)));
}

// S-47
#[tokio::test]
async fn a_user_who_is_added_can_sign_in_and_one_who_is_deactivated_can_not() {
    let app = TestApp::start_with(&["--demo", "false"]).await;
    let add = async |email: &str| {
        let arguments = [&[email], &GRACE[..], &["--password-stdin"]].concat();
        add_user(&test_store::options(app.data_dir()), &arguments, "Kahawa-2026\n").await
    };
    let login = async || app.login("grace@example.com", "Kahawa-2026").await;
    assert_eq!(login().await.status, 404);

    assert_snapshot!(printed(add("Grace@Example.com").await), @"grace@example.com can sign in.");
    assert_snapshot!(error_line(&add("grace@example.com").await), @"mkopo: grace@example.com already has an account");
    let answer = login().await;
    assert_eq!(answer.status, 200);
    let token = answer.json()["user"]["token"].as_str().unwrap().to_owned();
    let me = async || app.with(&token).get("/api/v1/auth/me").await;
    assert_eq!(me().await.status, 200);

    let deactivated = command(&app, &["user", "deactivate", "grace@example.com"]).await;
    assert_snapshot!(printed(deactivated), @"grace@example.com can no longer sign in.");
    assert_eq!(me().await.status, 401, "at once, from another process");
    assert_eq!(login().await.failure().1, "account_inactive");
    assert_snapshot!(printed(command(&app, &["user", "list"]).await), @"grace@example.com	Grace Wekesa	+254712345678	supervisor	inactive");

    let activated = command(&app, &["user", "activate", "grace@example.com"]).await;
    assert_snapshot!(printed(activated), @"grace@example.com can sign in.");
    assert_eq!(me().await.status, 401, "ended sessions stay ended");
    assert_eq!(login().await.status, 200);
}

// S-61
#[tokio::test]
async fn a_code_sent_before_the_account_was_deactivated_is_invalid() {
    let app = TestApp::start().await;
    let email = "agent@mkopo.test";
    app.request_reset_code(email).await;
    let otp = app.newest_code("+254711000003").await;
    printed(command(&app, &["user", "deactivate", email]).await);
    let reset = async || app.reset_password(email, &otp, "Kahawa-2026").await.failure().1;
    assert_eq!(reset().await, "invalid_code");
    printed(command(&app, &["user", "activate", email]).await);
    assert_eq!(reset().await, "invalid_code");
}

#[tokio::test]
async fn every_error_of_mkopo_user_is_one_sentence() {
    let app = TestApp::start_with(&["--demo", "false"]).await;
    let add = async |more: &[&str], password: &str| {
        let arguments = [&["grace@example.com"], &GRACE[..], more].concat();
        error_line(&add_user(&test_store::options(app.data_dir()), &arguments, password).await)
    };
    let said = [
        add(&["--password-stdin"], "12345\n").await,
        add(&["--password-stdin"], "").await,
        add(&["--password-stdin"], "password1\n").await,
        add(&["--password-stdin", "--brand", "Pesa Mbele"], "pesa mbele\n").await,
        add(&[], "Kahawa-2026\n").await,
        error_line(&command(&app, &["user", "deactivate", "grace@example.com"]).await),
        error_line(&command(&app, &["user", "activate", "grace@example.com"]).await),
    ];
    assert_snapshot!(said.join("\n"), @"
    mkopo: the password must have 6 to 1024 characters
    mkopo: the password must have 6 to 1024 characters
    mkopo: the password is too easy to guess; choose one that is not common, and not the e-mail address or the name of the portal
    mkopo: the password is too easy to guess; choose one that is not common, and not the e-mail address or the name of the portal
    mkopo: there is no terminal to prompt for the password; use --password-stdin
    mkopo: the account of grace@example.com could not be changed: user not found
    mkopo: the account of grace@example.com could not be changed: user not found
    ");
}

#[tokio::test]
async fn an_account_that_could_be_mistaken_for_another_is_not_added() {
    let app = TestApp::start().await;
    let add = async |first_name: &str, phone: &str| {
        let arguments = ["--last-name", "Otieno", "--role", "agent", "--password-stdin", "--phone", phone];
        let arguments = [&["achieng@example.com", "--first-name", first_name], &arguments[..]].concat();
        add_user(&test_store::options(app.data_dir()), &arguments, "Kahawa-2026\n").await
    };
    let taken = add("Achieng", "\u{202a}0711 000 003\u{202c}").await;
    assert_snapshot!(error_line(&taken), @"mkopo: the account could not be opened: Another account has this phone number.");
    let refused = add("Achieng\u{202e}", "0712 345 678").await;
    let said = String::from_utf8_lossy(&refused.stderr);
    let reason = "give a name of 1 to 64 characters that can be seen";
    assert!(!refused.status.success() && said.contains("--first-name") && said.contains(reason), "{said:?}");
    let accounts = app.read_console("/staff").await;
    assert_eq!(accounts.as_array().unwrap().len(), 4, "those of the demo");
}

// S-81
#[test]
fn a_secret_can_be_read_from_a_file_and_an_invalid_one_stops_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secret");
    let path = file.to_str().unwrap();
    let said = |variable| start_with(variable, path).replace(path, "[file]");
    let missing = said("MKOPO_JWT_SECRET_FILE");
    std::fs::write(&file, "too-short\n").unwrap();
    assert_snapshot!(
        [
            missing,
            said("MKOPO_JWT_SECRET_FILE"),
            said("MKOPO_CONSOLE_TOKEN_FILE"),
            said("MKOPO_SMTP_URL_FILE"),
            said("MKOPO_DATABASE_URL_FILE"),
        ]
        .join("\n"),
        @"
    mkopo: MKOPO_JWT_SECRET_FILE can't be '[file]': it can't be read (No such file or directory (os error 2)).
    mkopo: MKOPO_JWT_SECRET_FILE can't be '[file]': give at least 32 bytes, or leave it unset to have one generated.
    mkopo: MKOPO_CONSOLE_TOKEN_FILE can't be '[file]': give at least 16 letters, digits, dashes, dots, underscores or tildes, or leave it unset to have one generated.
    mkopo: MKOPO_SMTP_URL_FILE can't be '[file]': give a mail server such as smtps://user:password@mail.example.com.
    mkopo: MKOPO_DATABASE_URL_FILE can't be '[file]': give postgres://user:password@host:5432/name, or sqlite:path/to/file for a file on this machine.
    "
    );
}

#[test]
fn the_service_and_every_command_without_one_can_read_the_database_url_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("database-url");
    std::fs::write(&file, "postgres://mkopo:a-password@127.0.0.1:1/mkopo\n").unwrap();
    let run = |arguments: &[&str]| {
        let mut command = mkopo();
        command.args(arguments).current_dir(&folder).env("MKOPO_DATABASE_URL_FILE", &file);
        command.output().unwrap()
    };
    let add = [&["user", "add", "grace@example.com", "--password-stdin"], &GRACE[..]].concat();
    let said = [
        ["serve", "--listen=127.0.0.1:0"].as_slice(),
        &["seed", "--loans=1"],
        &["data", "backup", "-"],
        &["data", "restore", "-"],
    ]
    .map(|arguments| error_line(&run(arguments)));
    assert_snapshot!(said.join("\n"), @"
    mkopo: MKOPO_JWT_SECRET is missing: on PostgreSQL it is required, and must be the same on all servers
    mkopo: can't open the database postgres://mkopo@127.0.0.1:1/mkopo; set MKOPO_DATABASE_URL to one that can be written: Connection refused (os error 111)
    mkopo: MKOPO_DATABASE_URL names a PostgreSQL database; copy it with pg_dump and pg_restore
    mkopo: MKOPO_DATABASE_URL names a PostgreSQL database; copy it with pg_dump and pg_restore
    ");
    assert!(error_line(&run(&add)).contains("the password must have"), "asked for before");
}

#[tokio::test]
async fn one_service_or_command_without_a_service_uses_a_data_folder_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let in_file = ["--data-dir".to_owned(), folder.path().to_str().unwrap().to_owned()];
    let said = |output: &Output| error_line(output).replace(folder.path().to_str().unwrap(), "[folder]");
    let in_folder = |arguments: &[&str]| said(&mkopo().args(arguments).args(&in_file).output().unwrap());
    let mut service = serve().args(&in_file).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut log = BufReader::new(service.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(log.any(|line| line.contains("listening")), "it stopped before it was ready");
    let second = said(&serve().args(&in_file).output().unwrap());
    let backup = folder.path().join("monday.db");
    let backup = mkopo().args(["data", "backup"]).args(&in_file).arg(&backup).output().unwrap();
    let added = [&["grace@example.com"], &GRACE[..], &["--password-stdin"]].concat();
    let said = [
        second,
        said(&add_user(&in_file, &added, "Kahawa-2026\n").await),
        in_folder(&["seed", "--loans", "1"]),
        in_folder(&["data", "restore", "-"]),
    ];
    // Also when it has no time to give the lock back.
    service.kill().unwrap();
    service.wait().unwrap();
    assert_snapshot!(said.join("\n"), @"
    mkopo: [folder]/mkopo.db is in use by another mkopo, such as a running service; stop it first, or set MKOPO_DATA_DIR to another folder
    mkopo: [folder]/mkopo.db is in use by another mkopo, such as a running service; add the account on its console, or stop it first
    mkopo: [folder]/mkopo.db is in use by another mkopo, such as a running service; stop it first
    mkopo: [folder]/mkopo.db is in use by another mkopo, such as a running service; stop it first
    ");
    assert!(backup.status.success(), "a backup only reads: {}", String::from_utf8_lossy(&backup.stderr));
    printed(add_user(&in_file, &added, "Kahawa-2026\n").await);
}

/// `nohup` makes the service ignore it.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_that_is_closed_stops_the_service_in_good_order_unless_it_ignores_that() {
    use rustix::process::{Pid, Signal, kill_process};

    // As at a terminal, and as under `nohup`, whichever the tests run at.
    for (given, signals) in
        [("--default-signal=HUP", &[Signal::HUP][..]), ("--ignore-signal=HUP", &[Signal::HUP, Signal::TERM])]
    {
        let folder = tempfile::tempdir().unwrap();
        let mut service = Command::new("env")
            .args([given, env!("CARGO_BIN_EXE_mkopo"), "serve", "--demo=true", "--listen=127.0.0.1:0"])
            .arg("--data-dir")
            .arg(folder.path())
            .env_clear()
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(service.stderr.take().unwrap()).lines().map(Result::unwrap);
        let listening = log.find(|line| line.contains("listening")).unwrap();
        let listening: Value = serde_json::from_str(&listening).unwrap();
        let url = format!("http://{}/healthz", listening["fields"]["address"].as_str().unwrap());
        for (number, signal) in (1..).zip(signals) {
            kill_process(Pid::from_child(&service), *signal).unwrap();
            // Long enough to stop.
            let goes_on = number < signals.len();
            assert!(!goes_on || (0..50).all(|_| ureq::get(&url).call().is_ok()), "{signal:?} stopped it");
        }
        assert!(log.any(|line| line.contains("\"stopped\"")), "{given}");
        assert!(service.wait().unwrap().success(), "{given}");
    }
}

#[test]
fn a_copy_to_a_folder_that_does_not_exist_says_so() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mkopo.db"), "").unwrap();
    let copy = ["data", "copy", "--from", "sqlite:mkopo.db", "--to", "sqlite:typo/mkopo.db"];
    let said = error_line(&mkopo().args(copy).current_dir(&folder).output().unwrap());
    assert_snapshot!(said, @"mkopo: can't lock typo/mkopo.db.lock; its folder must exist and be writable: No such file or directory (os error 2)");
}

#[test]
fn a_symbolic_link_to_a_database_has_the_lock_of_the_database() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mkopo.db"), "").unwrap();
    // The service holds it.
    let lock = fs::File::create(folder.path().join("mkopo.db.lock")).unwrap();
    lock.try_lock().unwrap();
    let links = tempfile::tempdir().unwrap();
    let link = links.path().join("link.db");
    std::os::unix::fs::symlink(folder.path().join("mkopo.db"), &link).unwrap();
    let mut seed = mkopo();
    seed.args(["seed", "--loans", "1"]).env("MKOPO_DATABASE_URL", format!("sqlite:{}", link.display()));
    let said = error_line(&seed.output().unwrap()).replace(links.path().to_str().unwrap(), "[links]");
    assert_snapshot!(said, @"mkopo: [links]/link.db is in use by another mkopo, such as a running service; stop it first");
}

#[tokio::test]
async fn who_can_not_write_the_database_is_told_the_reason_and_not_that_a_service_is_busy() {
    let app = TestApp::start_on_file().await;
    app.sandbox.close(std::time::Duration::ZERO).await;
    let file = app.data_dir().join("mkopo.db");
    let mut database = fs::read(&file).unwrap();
    // SQLite only reads files with a later write version (file format, 1.3.3). Permissions would not keep root out.
    database[18] = 3;
    fs::write(&file, database).unwrap();
    let in_file = ["--data-dir".to_owned(), app.data_dir().to_str().unwrap().to_owned()];
    let added = [&["grace@example.com"], &GRACE[..], &["--password-stdin"]].concat();
    let said = [
        serve().args(["--log", "off"]).args(&in_file).output().unwrap(),
        add_user(&in_file, &added, "Kahawa-2026\n").await,
        mkopo().args(["seed", "--loans", "1"]).args(&in_file).output().unwrap(),
    ]
    .map(|output| error_line(&output));
    assert_snapshot!(said.join("\n"), @"
    mkopo: the database can't be written: attempt to write a readonly database
    mkopo: the account could not be opened: attempt to write a readonly database
    mkopo: attempt to write a readonly database
    ");
}

#[tokio::test]
async fn the_first_account_can_be_added_before_the_first_start_and_names_a_mistyped_folder() {
    let folder = tempfile::tempdir().unwrap();
    let typo = folder.path().join("typo");
    let arguments = [&["grace@example.com"], &GRACE[..], &["--password-stdin"]].concat();
    let in_file = ["--data-dir".to_owned(), typo.to_str().unwrap().to_owned()];
    let added = add_user(&in_file, &arguments, "Kahawa-2026\n").await;
    let said = String::from_utf8_lossy(&added.stderr).replace(typo.to_str().unwrap(), "[folder]");
    assert_snapshot!(said, @"There is no database in the data folder [folder]: it is created.");
    assert_snapshot!(printed(added), @"grace@example.com can sign in.");
}

#[test]
fn a_command_calls_the_service_on_this_machine_with_the_token_in_its_data_folder() {
    let folder = tempfile::tempdir().unwrap();
    let run = |settings: &[(&str, &str)], arguments: &[&str]| {
        let mut command = mkopo();
        command.args(arguments).env("MKOPO_DATA_DIR", folder.path()).envs(settings.iter().copied());
        error_line(&command.output().unwrap()).replace(folder.path().to_str().unwrap(), "[folder]")
    };
    let listen = ("MKOPO_LISTEN", "0.0.0.0:1");
    let no_token = run(&[listen], &["user", "list"]);
    std::fs::write(folder.path().join("console.token"), CONSOLE_TOKEN).unwrap();
    let said = [
        no_token,
        run(&[listen], &["user", "list"]),
        run(&[listen, ("MKOPO_CONSOLE_LISTEN", "127.0.0.1:3")], &["sandbox", "list"]),
        run(&[("MKOPO_CONSOLE_LISTEN", "off")], &["slice", "list"]),
        run(&[("MKOPO_SERVER", "https://console.example.com")], &["slice", "list"]),
        run(&[("MKOPO_SERVER", "http://console.example.com")], &["slice", "list", "--token", CONSOLE_TOKEN]),
        run(
            &[("MKOPO_SERVER", "http://0.0.0.0:1"), ("MKOPO_INSECURE", "true")],
            &["slice", "list", "--token", CONSOLE_TOKEN],
        ),
    ];
    assert_snapshot!(said.join("\n"), @"
    mkopo: [folder]/console.token can't be read; set MKOPO_DATA_DIR to the service's data folder, or give --token: No such file or directory (os error 2)
    mkopo: no service answers on http://127.0.0.1:2; run `mkopo serve`, or give --server: io: Connection refused (os error 111)
    mkopo: no service answers on http://127.0.0.1:3; run `mkopo serve`, or give --server: io: Connection refused (os error 111)
    mkopo: the console of this machine's service is off (MKOPO_CONSOLE_LISTEN)
    mkopo: --server needs --token, the console token of that service
    mkopo: http://console.example.com has no TLS: the token could be read on the way; give an address with https://, or add --insecure
    mkopo: http://0.0.0.0:1 can't be reached: io: Connection refused (os error 111)
    ");
}

#[test]
fn an_invalid_option_is_named_as_it_was_typed() {
    let said = [
        ["serve", "--listen", "8080"].as_slice(),
        &["serve", "--listen=8080"],
        &["serve", "--console-token", "short"],
        &["slice", "list", "--token", "wrong"],
        &["slice", "list", "--server", "portal"],
    ]
    .map(|arguments| error_line(&mkopo().args(arguments).output().unwrap()));
    assert_snapshot!(said.join("\n"), @"
    mkopo: --listen can't be '8080': give an address and a port such as 127.0.0.1:8080.
    mkopo: --listen can't be '8080': give an address and a port such as 127.0.0.1:8080.
    mkopo: --console-token is invalid: give at least 16 letters, digits, dashes, dots, underscores or tildes, or leave it unset to have one generated.
    mkopo: --token is invalid: a console token has at least 16 letters, digits, dashes, dots, underscores or tildes; the service stores its own as console.token in its data folder, unless one is configured.
    mkopo: --server can't be 'portal': give the address of the console such as https://console.example.com.
    ");
}

#[test]
fn a_secret_may_begin_with_a_dash() {
    let server = "http://127.0.0.1:1";
    let token = "-n8DzKX3uYw0-pQ";
    let said = [
        ["serve", "--console-token", "-short"].as_slice(),
        &["serve", "--jwt-secret", "-short"],
        &["slice", "list", "--server", server, "--token", &format!("{token}a")],
        &["sandbox", "list", "--server", server, "--token", &format!("-{token}")],
        &["provider", "check", "--url", server, "--email", "agent@mkopo.test", "--password", token],
    ]
    .map(|arguments| error_line(&mkopo().args(arguments).output().unwrap()));
    assert_snapshot!(said.join("\n"), @"
    mkopo: --console-token is invalid: give at least 16 letters, digits, dashes, dots, underscores or tildes, or leave it unset to have one generated.
    mkopo: --jwt-secret is invalid: give at least 32 bytes, or leave it unset to have one generated.
    mkopo: http://127.0.0.1:1 can't be reached: io: Connection refused (os error 111)
    mkopo: http://127.0.0.1:1 can't be reached: io: Connection refused (os error 111)
    mkopo: the provider can't be reached: tcp connect error
    ");
}

#[test]
fn the_address_of_a_portal_is_not_that_of_its_console() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let answer = concat!(
            "HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n",
            r#"{"error": "Not found.", "code": "not_found"}"#
        );
        let mut connection = listener.accept().unwrap().0;
        _ = connection.write_all(answer.as_bytes());
        _ = connection.shutdown(std::net::Shutdown::Write);
        _ = std::io::copy(&mut connection, &mut std::io::sink());
    });
    let output = mkopo()
        .args(["slice", "list", "--token", CONSOLE_TOKEN, "--server", &format!("http://{address}")])
        .output()
        .unwrap();
    assert_snapshot!(error_line(&output).replace(&address, "[address]"), @"mkopo: http://[address] is not the address of a console; by default it is the portal's with the next port");
}

#[tokio::test]
async fn a_command_with_a_wrong_token_says_so() {
    let app = TestApp::start().await;
    let server = app.serve(Listener::Console).await;
    let mut command = mkopo();
    command.args(["user", "list", "--token", "another-token-of-a-test", "--server", &server]);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    assert_snapshot!(error_line(&output).replace(&server, "[server]"), @"mkopo: [server] does not accept this token; give the operator's console token as --token");
}

#[test]
fn https_to_a_plain_port_says_so() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            _ = connection.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
            _ = std::io::copy(&mut connection, &mut std::io::sink());
        }
    });
    let output = mkopo()
        .args(["slice", "list", "--token", CONSOLE_TOKEN, "--server", &format!("https://{address}")])
        .output()
        .unwrap();
    assert_snapshot!(error_line(&output).replace(&address, "[address]"), @"mkopo: https://[address] does not use TLS: give its address with http:// instead of https://");
}

#[tokio::test]
async fn lists_are_printed_as_json() {
    let app = TestApp::start().await;
    let accounts = command(&app, &["user", "list", "--json"]).await;
    let accounts: Value = serde_json::from_slice(&accounts.stdout).unwrap();
    assert_eq!(accounts, app.read_console("/staff").await);
}

/// The lines that a service in demo mode prints before the address of its console.
fn said_on(listen: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut command = mkopo();
    command.args(["serve", "--demo", "true", "--log", "off"]);
    command.args(["--listen", listen, "--console-listen", "127.0.0.1:0"]);
    let mut service = command.env("MKOPO_DATA_DIR", folder.path()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(service.stdout.take().unwrap()).lines().map(Result::unwrap);
    let said = lines.take_while(|line| !line.contains("/console")).collect();
    service.kill().unwrap();
    service.wait().unwrap();
    said
}

#[test]
fn demo_mode_that_others_can_reach_prints_a_warning_of_two_lines() {
    let said = said_on("0.0.0.0:0");
    assert_eq!(
        said[..2],
        [
            "  Warning: others on the network can sign in with the demo accounts and their known password.",
            "  Demo mode is for this machine: listen on 127.0.0.1, or set MKOPO_DEMO=false.",
        ]
    );
    let said = said_on("127.0.0.1:0");
    assert!(!said.iter().any(|line| line.contains("Warning")), "{said:?}");
}
