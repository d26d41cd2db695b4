//! The command line.

use std::process::ExitCode;

// Without huge pages: with them, a thread takes 2 MB for a few KB, and an open sandbox has three threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    mkopo::commands::run()
}
