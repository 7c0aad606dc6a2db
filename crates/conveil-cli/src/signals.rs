//! Interruptions: Ctrl-C and, on Unix, SIGTERM and SIGHUP. The first raises the engine's flag, so that work stops cleanly;
//! the second ends the process.

use conveil::solve::Cancel;

use crate::private_file;

/// The exit code of a second interruption, as of an error of the solver: the work did not end.
const INTERRUPTED: i32 = 6;

fn interrupted(cancel: &Cancel) {
    if cancel.is_raised() {
        private_file::discard_unwritten();
        std::process::exit(INTERRUPTED);
    }
    cancel.raise();
}

/// Watches for interruptions from now on. Called before any other thread is started: those inherit the blocked signals.
#[cfg(unix)]
pub(crate) fn watch(cancel: Cancel) {
    use nix::errno::Errno;
    use nix::sys::signal::{SigSet, Signal};
    let mut watched = SigSet::empty();
    // Who starts a command so that it ignores a signal (`nohup`, a shell's `&`) wants it to go on.
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        if !is_ignored(signal) {
            watched.add(signal);
        }
    }
    // Without a thread that waits for them the signals keep their usual effect: they end the process.
    if watched.thread_block().is_err() {
        return;
    }
    let thread = std::thread::Builder::new().name("signals".into());
    let started = thread.spawn(move || {
        loop {
            match watched.wait() {
                Ok(_) => interrupted(&cancel),
                // A process that is stopped and goes on again.
                Err(Errno::EINTR) => {}
                Err(_) => return,
            }
        }
    });
    if started.is_err() {
        let _ = watched.thread_unblock();
    }
}

/// Whether the process was started with this signal ignored, as far as the system tells.
#[cfg(unix)]
fn is_ignored(signal: nix::sys::signal::Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal as u32 - 1) & 1 == 1)
}

/// Watches for interruptions from now on.
#[cfg(not(unix))]
pub(crate) fn watch(cancel: Cancel) {
    // Without a handler an interruption ends the process at once.
    let _ = ctrlc::set_handler(move || interrupted(&cancel));
}
