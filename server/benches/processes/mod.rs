//! Figures of a process, as Linux gives them.

use std::time::Duration;

/// A figure of its memory in KB, such as `VmRSS`.
pub fn memory(process: u32, name: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The time that it had a processor, in its own code and in the kernel's.
pub fn processor_time(process: u32) -> Duration {
    /// Linux counts in hundredths of a second for every machine.
    const TICK: Duration = Duration::from_millis(10);
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    // The name before may contain spaces.
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks = [fields[11], fields[12]].map(|field| field.parse::<u32>().unwrap());
    TICK * ticks.iter().sum()
}
