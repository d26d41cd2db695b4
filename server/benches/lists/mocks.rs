//! The tools that teams otherwise use to serve such a list: mock servers from npm, each configured to send it
//! unchanged and to do as little else as possible.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use super::{Asked, Other, PENDING, cores, free_address};

pub struct Mock {
    /// In a version that runs on Node.js 20.
    pub package: &'static str,
    /// The target for the speed of the list, as a multiple of the mock server's.
    pub target: &'static str,
    /// Its command, and what that takes before the port; none if it is started as a library.
    command: Option<(&'static str, &'static str)>,
}

pub const MOCKS: [Mock; 3] = [
    Mock { package: "@mockoon/cli@9.9.0", target: "≥ 8", command: None },
    Mock {
        package: "@stoplight/prism-cli@5.14.2",
        target: "≥ 15",
        command: Some((
            "prism",
            "mock openapi.json --verboseLevel silent --cors false --host 127.0.0.1 --port",
        )),
    },
    Mock { package: "json-server@0.17.4", target: "≥ 15", command: None },
];

/// Starts the mock servers that this machine has or can download.
pub async fn start(folder: &Path, list: &[u8]) -> Vec<(&'static Mock, Other, Asked)> {
    let list = read(list);
    for (file, content) in files(&list) {
        std::fs::write(folder.join(file), content.to_string()).unwrap();
    }
    let mut mocks = Vec::new();
    for mock in &MOCKS {
        let package = mock.package;
        let Some(modules) = fetch(package) else {
            println!("{package} skipped: npx can't download it");
            continue;
        };
        let address = free_address();
        let mut command = if let Some((program, arguments)) = mock.command {
            let mut command = cores::measured(modules.join(".bin").join(program));
            command.args(arguments.split(' '));
            command
        } else {
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/lists/mocks.cjs");
            let mut command = cores::measured("node");
            command.arg(script).arg(package).env("NODE_PATH", modules);
            command
        };
        command.arg(address.port().to_string()).current_dir(folder).env("NODE_ENV", "production");
        let (server, answer) =
            Other::start(command.stdout(Stdio::null()).stderr(Stdio::null()), address).await;
        assert!(read(&answer.body) == list, "{package} sent a different list");
        let asked = Asked::new(package, address, "");
        mocks.push((mock, server, asked));
    }
    mocks
}

/// Parses a list, with numbers as JavaScript writes them: 14 instead of 14.0.
fn read(list: &[u8]) -> Value {
    serde_json::from_str(&std::str::from_utf8(list).unwrap().replace(".0,", ",")).unwrap()
}

fn files(list: &Value) -> [(&'static str, Value); 4] {
    let body = json!({ "body": list.to_string(), "disableTemplating": true });
    let route = json!({ "type": "http", "method": "get", "endpoint": &PENDING[1..], "responses": [body] });
    let answer = json!({ "description": "", "content": { "application/json": { "example": list } } });
    let paths = json!({ PENDING: { "get": { "responses": { "200": answer } } } });
    let info = json!({ "title": "list", "version": "1" });
    [
        ("mockoon.json", json!({ "name": "list", "routes": [route] })),
        ("openapi.json", json!({ "openapi": "3.1.0", "info": info, "paths": paths })),
        ("db.json", json!({ "list": list })),
        ("routes.json", json!({ PENDING: "/list" })),
    ]
}

/// The `node_modules` into which npx downloads the package. npx does not run it, because it would leave it running
/// when stopped.
fn fetch(package: &str) -> Option<PathBuf> {
    let found = Command::new("npx")
        .args(["--yes", "--prefer-offline", "--fetch-retries=0", "--package", package])
        .args(["--call", "echo $PATH"])
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let path = String::from_utf8(found.stdout).unwrap();
    // The first folder of the path is that of the package's commands.
    let programs = Path::new(path.split(':').next()?);
    (found.status.success() && programs.ends_with("node_modules/.bin"))
        .then(|| programs.parent().unwrap().into())
}
