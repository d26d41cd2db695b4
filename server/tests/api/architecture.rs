//! Checks how the folders of the program use each other, and that snapshots are inline.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    ffi::OsStr,
    path::{Path as FilePath, PathBuf},
};

use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, ItemUse, Macro, Path, UseTree, visit::Visit};

use crate::sources::{self, Source};

/// The files that mount routes: the only ones that may use another folder's `api.rs` or `page.rs`.
const ROUTERS: [&str; 2] = ["mkopo/router.rs", "console/lib.rs"];

/// Modules that only share the name of doors.
const NOT_DOORS: [&str; 2] = ["console/view/page.rs", "lending/lists/page.rs"];

/// The paths that a source uses, each from the name of its crate.
struct Uses<'a> {
    modules: &'a HashSet<Vec<String>>,
    module: Vec<String>,
    /// The paths that the names imported by the source stand for.
    imported: HashMap<String, Vec<String>>,
    found: BTreeSet<Vec<String>>,
}

impl<'a> Uses<'a> {
    fn of(source: &Source, modules: &'a HashSet<Vec<String>>) -> Self {
        let mut uses =
            Self { modules, module: source.module(), imported: HashMap::new(), found: BTreeSet::new() };
        // Twice: an import may come after its use.
        uses.visit_file(&source.file);
        uses.visit_file(&source.file);
        uses
    }

    /// `path` from the name of its crate; `None` if it is of none of ours.
    fn resolve(&self, path: &[String]) -> Option<Vec<String>> {
        let (first, rest) = path.split_first()?;
        let mut resolved = match first.as_str() {
            "crate" => self.module[..1].to_vec(),
            "self" => self.module.clone(),
            "super" => {
                let mut above = self.module.clone();
                above.pop();
                let mut rest = rest;
                while let Some(("super", further)) =
                    rest.split_first().map(|(name, rest)| (name.as_str(), rest))
                {
                    above.pop();
                    rest = further;
                }
                above.extend_from_slice(rest);
                return Some(above);
            }
            name => {
                let child = [&self.module[..], &[name.to_owned()]].concat();
                match self.imported.get(name) {
                    Some(imported) => imported.clone(),
                    None if self.modules.contains(&child) => child,
                    None if self.modules.contains(&[name.to_owned()][..]) => vec![name.to_owned()],
                    None => return None,
                }
            }
        };
        resolved.extend_from_slice(rest);
        Some(resolved)
    }

    fn add(&mut self, path: &[String]) {
        if let Some(path) = self.resolve(path) {
            self.found.insert(path);
        }
    }

    fn add_outside_use(&mut self, path: &[String]) {
        // A single name is an item of this module, a variable, or imported by a `use`.
        if path.len() > 1 {
            self.add(path);
        }
    }

    fn add_use(&mut self, before: &[String], tree: &UseTree) {
        let with = |name: String| [before, &[name]].concat();
        let (path, name) = match tree {
            UseTree::Path(path) => return self.add_use(&with(path.ident.to_string()), &path.tree),
            UseTree::Group(group) => return group.items.iter().for_each(|tree| self.add_use(before, tree)),
            UseTree::Glob(_) => return self.add(before),
            UseTree::Name(name) if name.ident == "self" => (before.to_vec(), before.last().unwrap().clone()),
            UseTree::Name(name) => (with(name.ident.to_string()), name.ident.to_string()),
            UseTree::Rename(name) if name.ident == "self" => (before.to_vec(), name.rename.to_string()),
            UseTree::Rename(name) => (with(name.ident.to_string()), name.rename.to_string()),
        };
        self.add(&path);
        if let Some(path) = self.resolve(&path) {
            self.imported.insert(name, path);
        }
    }

    /// Adds the paths among the arguments of a macro.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) if colons == 2 && !path.is_empty() => path.push(name.to_string()),
                TokenTree::Ident(name) => {
                    self.add_outside_use(&path);
                    path = vec![name.to_string()];
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                TokenTree::Group(group) => {
                    self.add_outside_use(&std::mem::take(&mut path));
                    self.add_tokens(group.stream());
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {
                    self.add_outside_use(&std::mem::take(&mut path));
                }
            }
            colons = 0;
        }
        self.add_outside_use(&path);
    }
}

impl Visit<'_> for Uses<'_> {
    fn visit_attribute(&mut self, _: &Attribute) {}

    fn visit_item_use(&mut self, item: &ItemUse) {
        self.add_use(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.add_outside_use(&names);
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &Macro) {
        self.visit_path(&call.path);
        self.add_tokens(call.tokens.clone());
    }
}

/// The modules that each module uses, each with one file that does.
type Graph = BTreeMap<String, BTreeMap<String, String>>;

/// Each source, and the modules that it uses.
fn uses() -> Vec<(Source, BTreeSet<Vec<String>>)> {
    let sources = sources::all();
    let modules: HashSet<Vec<String>> = sources.iter().map(Source::module).collect();
    let found: Vec<BTreeSet<Vec<String>>> =
        sources.iter().map(|source| Uses::of(source, &modules).found).collect();
    sources.into_iter().zip(found).collect()
}

#[test]
fn folders_do_not_use_the_api_or_page_of_another_folder() {
    let uses = uses();
    let doors: HashSet<Vec<String>> = uses
        .iter()
        .filter(|(source, _)| !NOT_DOORS.contains(&source.path.to_str().unwrap()))
        .map(|(source, _)| source.module())
        .filter(|module| module.len() > 2 && matches!(module.last().unwrap().as_str(), "api" | "page"))
        .collect();
    assert!(doors.len() > 20, "only {} found", doors.len());
    let mut wrong = Vec::new();
    for (source, used) in &uses {
        let file = source.path.to_str().unwrap();
        for path in used.iter().filter(|_| !ROUTERS.contains(&file)) {
            for length in 2..=path.len() {
                let (folder, door) = (&path[..length - 1], &path[..length]);
                if doors.contains(door) && !source.module().starts_with(folder) {
                    wrong.push(format!("{file} uses {}", path.join("::")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The modules of each crate and of each folder with those beside them that each uses, and one file that does. The
/// root of a crate is the module `lib`; the root of a folder only names what is in it.
fn graphs() -> BTreeMap<String, Graph> {
    let uses = uses();
    let modules: HashSet<Vec<String>> = uses.iter().map(|(source, _)| source.module()).collect();
    let mut graphs: BTreeMap<String, Graph> = BTreeMap::new();
    for (source, used) in &uses {
        let module = source.module();
        for path in used {
            let shared = module.iter().zip(path).take_while(|(one, other)| one == other).count();
            let of = |path: &[String]| match path.get(..=shared).filter(|module| modules.contains(*module)) {
                Some(module) => module.last().cloned(),
                None if shared == 1 => Some("lib".to_owned()),
                None => None,
            };
            if let (Some(from), Some(to)) = (of(&module), of(path))
                && shared > 0
                && from != to
            {
                let edges = graphs.entry(module[..shared].join("::")).or_default().entry(from).or_default();
                edges.entry(to).or_insert_with(|| source.path.display().to_string());
            }
        }
    }
    graphs
}

/// Returns whether `from` reaches `to`, over at least one edge.
fn reaches(graph: &Graph, from: &str, to: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        for next in graph.get(module).into_iter().flat_map(BTreeMap::keys) {
            if next == to {
                return true;
            }
            if seen.insert(next.as_str()) {
                open.push(next);
            }
        }
    }
    false
}

#[test]
fn the_modules_of_a_crate_or_folder_do_not_use_each_other_in_circles() {
    let graphs = graphs();
    assert!(graphs.len() > 20, "only {:?} found", graphs.keys());
    let mut circles = Vec::new();
    for (of_crate, graph) in &graphs {
        for (from, edges) in graph {
            for (to, file) in edges {
                if reaches(graph, to, from) {
                    circles.push(format!("{of_crate}: {from} uses {to} ({file}), which uses {from}"));
                }
            }
        }
    }
    assert!(circles.is_empty(), "{circles:#?}");
}

/// A snapshot in a file outlives the test that it belongs to.
#[test]
fn snapshots_are_inline_and_none_is_pending() {
    let files = sources::files_under(FilePath::new(env!("CARGO_MANIFEST_DIR")));
    let is_snapshot = |file: &PathBuf| {
        let name = file.file_name().and_then(OsStr::to_str).unwrap();
        [".snap", ".snap.new", ".pending-snap"].iter().any(|end| name.ends_with(end))
    };
    let found: Vec<PathBuf> = files.into_iter().filter(is_snapshot).collect();
    assert!(found.is_empty(), "write inline snapshots, and accept or remove pending ones: {found:#?}");
}

/// Cargo leaves out, without a word, what no `mod` names.
#[test]
fn every_file_of_tests_is_compiled() {
    let folder = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for tests in ["api", "payouts"] {
        let root = std::fs::read_to_string(folder.join(tests).join("main.rs")).unwrap();
        let forgotten: Vec<String> = std::fs::read_dir(folder.join(tests))
            .unwrap()
            .filter_map(|entry| Some(entry.unwrap().path().file_stem()?.to_str()?.to_owned()))
            .filter(|name| name != "main" && !root.contains(&format!("mod {name};")))
            .collect();
        assert!(forgotten.is_empty(), "write `mod …;` in tests/{tests}/main.rs for {forgotten:?}");
    }
}
