//! The parsed sources of the program.

use std::path::{Path, PathBuf};

use syn::{Attribute, File, Item};

/// A file under `src`.
pub struct Source {
    /// Relative to `src`.
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

/// All files under `src`.
pub fn all() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources = Vec::new();
    read(&root, &root, &mut sources);
    sources
}

fn read(root: &Path, folder: &Path, sources: &mut Vec<Source>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(root, &path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let mut file = syn::parse_file(&std::fs::read_to_string(&path).unwrap()).unwrap();
            file.items
                .retain(|item| !matches!(item, Item::Mod(module) if module.attrs.iter().any(is_cfg_test)));
            sources.push(Source { path: path.strip_prefix(root).unwrap().to_owned(), file });
        }
    }
}

fn is_cfg_test(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
}
