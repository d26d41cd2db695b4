//! What teams otherwise use to serve such a list: mock servers from npm, each configured to send it
//! unchanged and to do as little else as possible.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use super::{Other, PENDING, Rate, free_address};

/// Package, in a version that runs on Node.js 20; program; arguments.
const MOCKS: [(&str, &str, &str); 3] = [
    (
        "@mockoon/cli@9.9.0",
        "mockoon-cli",
        "start --data mockoon.json --repair --disable-admin-api -X --hostname 127.0.0.1 --port",
    ),
    (
        "@stoplight/prism-cli@5.14.2",
        "prism",
        "mock openapi.json --verboseLevel silent --host 127.0.0.1 --port",
    ),
    (
        "json-server@0.17.4",
        "json-server",
        "db.json --routes routes.json --read-only --quiet --host 127.0.0.1 --port",
    ),
];

pub struct Mock {
    package: &'static str,
    pub server: Other,
    pub best: Rate,
}

impl Mock {
    pub fn print(&self, ours: Rate) {
        let ratio = ours.per_second / self.best.per_second;
        println!("  {:<32} {}  signed in is {ratio:.1} times as fast  (target 20)", self.package, self.best);
    }
}

/// Starts the mock servers that this machine has or can download.
pub async fn start(folder: &Path, list: &[u8]) -> Vec<Mock> {
    let list = read(list);
    for (file, content) in files(&list) {
        std::fs::write(folder.join(file), content.to_string()).unwrap();
    }
    let mut mocks = Vec::new();
    for (package, program, arguments) in MOCKS {
        let Some(program) = fetch(package, program) else {
            println!("  {package} skipped: npx can't download it");
            continue;
        };
        let address = free_address();
        let mut command = Command::new(program);
        command.args(arguments.split(' ')).arg(address.port().to_string());
        // Mockoon creates a folder in the home directory.
        command.current_dir(folder).env("HOME", folder).stdout(Stdio::null()).stderr(Stdio::null());
        let (server, answer) = Other::start(&mut command, address).await;
        assert!(read(&answer.body) == list, "{package} sent a different list");
        mocks.push(Mock { package, server, best: Rate::default() });
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

/// The path of the program that npx downloads. npx does not run it, because it would leave it running
/// when stopped.
fn fetch(package: &str, program: &str) -> Option<String> {
    let found = Command::new("npx")
        .args(["--yes", "--prefer-offline", "--fetch-retries=0", "--package", package])
        .args(["--call", &format!("command -v {program}")])
        .stderr(Stdio::null())
        .output()
        .ok()?;
    found.status.success().then(|| String::from_utf8(found.stdout).unwrap().trim().to_owned())
}
