//! Writes the contract as JSON for the server: a program that answers calls needs no parser of YAML.

use std::{env, error::Error, fs, path::Path};

const CONTRACT: &str = "../../../contract/openapi.yaml";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={CONTRACT}");
    let mut contract: yaml_serde::Value = yaml_serde::from_str(&fs::read_to_string(CONTRACT)?)?;
    contract.apply_merge()?;
    let contract = serde_json::to_value(contract)?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("openapi.json"), contract.to_string())?;
    Ok(())
}
