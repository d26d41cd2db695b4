//! A processor for what is measured and another one for what measures, so that neither takes time from the other.

use std::{ffi::OsStr, process::Command, sync::OnceLock};

/// The processors, if this machine has two and can keep processes on them.
#[derive(Clone, Copy)]
struct Cores {
    measured: usize,
    measuring: usize,
}

fn cores() -> Option<Cores> {
    static CORES: OnceLock<Option<Cores>> = OnceLock::new();
    *CORES.get_or_init(|| {
        Command::new("taskset").arg("--version").output().ok()?;
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.trim();
        // Such as `0-3,8`.
        let mut numbers = allowed.split([',', '-']).map(str::parse::<usize>);
        let (first, last) = (numbers.next()?.ok()?, numbers.next_back()?.ok()?);
        Some(Cores { measured: first, measuring: last })
    })
}

/// Keeps this process on the processor that measures, and says how processors are shared. To be called before
/// threads are started, which stay where they begin.
pub fn take_one() -> &'static str {
    let Some(cores) = cores() else {
        return "All processes share the processors, because this machine has one, or no `taskset`";
    };
    let process = std::process::id().to_string();
    let mut command = Command::new("taskset");
    let status = command.args(["--pid", "--cpu-list", &cores.measuring.to_string(), &process]).output();
    assert!(status.unwrap().status.success(), "taskset failed");
    "Each server has one core (`taskset`); the load generator has another one, which it shares with what writes beside it"
}

/// A command that runs on the processor of what is measured.
pub fn measured(program: impl AsRef<OsStr>) -> Command {
    let Some(cores) = cores() else { return Command::new(program) };
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", &cores.measured.to_string()]).arg(program);
    command
}
