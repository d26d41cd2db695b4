//! The parsed sources of the program.

use std::path::{Path, PathBuf};

use syn::{Attribute, File, Item};

/// A file of the program.
pub struct Source {
    /// Starts with the name of its crate: `console/view/mod.rs`.
    pub path: PathBuf,
    /// Without unit tests.
    pub file: File,
}

impl Source {
    /// The path of its module: `console/faults/page.rs` is `console::faults::page`.
    pub fn module(&self) -> Vec<String> {
        let mut module: Vec<String> =
            self.path.with_extension("").iter().map(|name| name.to_str().unwrap().to_owned()).collect();
        if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
            module.pop();
        }
        module
    }
}

/// All files of all crates.
pub fn all() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = Vec::new();
    read("mkopo".as_ref(), &root.join("src"), &mut sources);
    for entry in std::fs::read_dir(root.join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        read(folder.file_name().unwrap().as_ref(), &folder.join("src"), &mut sources);
    }
    sources
}

fn read(module: &Path, folder: &Path, sources: &mut Vec<Source>) {
    for path in rust_files_under(folder) {
        let mut file = syn::parse_file(&std::fs::read_to_string(&path).unwrap()).unwrap();
        file.items.retain(|item| !matches!(item, Item::Mod(module) if module.attrs.iter().any(is_cfg_test)));
        sources.push(Source { path: module.join(path.strip_prefix(folder).unwrap()), file });
    }
}

pub fn rust_files_under(folder: &Path) -> Vec<PathBuf> {
    let mut files = files_under(folder);
    files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
    files
}

/// All files under `folder`, except what is built.
pub fn files_under(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_dir() {
            found.push(path);
        } else if !path.ends_with("target") {
            found.extend(files_under(&path));
        }
    }
    found
}

fn is_cfg_test(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
}
