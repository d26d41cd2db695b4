//! Prints the figures of a benchmark, and writes them as JSON to the file that `MKOPO_BENCH_FIGURES` names, from
//! which `make bench` writes their section of `docs/performance.md`.

use serde::Serialize;

/// The number of times that each figure is measured: `rounds`, unless `MKOPO_BENCH_ROUNDS` says otherwise.
pub fn rounds(rounds: usize) -> usize {
    std::env::var("MKOPO_BENCH_ROUNDS").map_or(rounds, |number| number.parse().unwrap())
}

/// Everything that one benchmark measures.
#[derive(Serialize)]
pub struct Section {
    bench: &'static str,
    title: &'static str,
    /// The method of measurement, in Markdown.
    how: String,
    /// The versions of what takes part, besides the server.
    software: Vec<String>,
    tables: Vec<Table>,
}

#[derive(Serialize)]
struct Table {
    title: String,
    figures: Vec<Figure>,
}

#[derive(Serialize)]
struct Figure {
    what: String,
    unit: &'static str,
    values: Vec<f64>,
    target: &'static str,
}

impl Section {
    pub fn new(bench: &'static str, title: &'static str, how: String, software: Vec<String>) -> Self {
        Self { bench, title, how, software, tables: Vec::new() }
    }

    /// Begins a table; the figures that follow are its rows.
    pub fn table(&mut self, title: impl Into<String>) {
        let title = title.into();
        println!("\n{title}");
        self.tables.push(Table { title, figures: Vec::new() });
    }

    /// Adds a figure by what was measured in each round. The target is for the median: `"≤ 3"`, `"≥ 20"` or none.
    pub fn figure(
        &mut self,
        what: impl Into<String>,
        unit: &'static str,
        values: Vec<f64>,
        target: &'static str,
    ) {
        let figure = Figure { what: what.into(), unit, values, target };
        figure.print();
        self.tables.last_mut().unwrap().figures.push(figure);
    }

    /// Hands the figures over, once all are measured.
    pub fn write(self) {
        let Some(file) = std::env::var_os("MKOPO_BENCH_FIGURES") else { return };
        std::fs::write(file, serde_json::to_string_pretty(&self).unwrap()).unwrap();
    }
}

impl Figure {
    /// Prints the median, and the smallest and the largest value.
    fn print(&self) {
        let Self { what, unit, values, target } = self;
        let mut values = values.clone();
        values.sort_by(f64::total_cmp);
        let (least, most) = (values[0], values[values.len() - 1]);
        let median = f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2]);
        let digits = if most < 100.0 { 2 } else { 0 };
        let target = if target.is_empty() { String::new() } else { format!("  target {target}") };
        println!("  {what:<56} {median:>9.digits$} {unit:<3} ({least:.digits$} to {most:.digits$}){target}");
    }
}
