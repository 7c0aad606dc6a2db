//! Memory is estimated before it is allocated: a size that a spec or a file asks for is refused with the number, and does
//! not end the process.

use crate::error::{Error, Result};
use std::path::Path;

/// Assumed where the machine does not tell.
const ASSUMED: f64 = 16e9;

/// Refuses what would need more bytes than this machine has. `what` asks for it, `instead` is the way out.
pub fn refuse_beyond_memory(what: &str, bytes: f64, instead: &str) -> Result<()> {
    refuse_beyond(what, bytes, of_this_machine(), instead)
}

fn refuse_beyond(what: &str, bytes: f64, most: f64, instead: &str) -> Result<()> {
    // NaN is refused as well.
    if bytes <= most {
        return Ok(());
    }
    Err(Error::refused(
        what,
        format!(
            "it needs about {} of memory, and this machine has {}",
            shown(bytes),
            shown(most)
        ),
        instead,
    ))
}

/// Bytes of memory, or of the part of it that this process may use.
fn of_this_machine() -> f64 {
    let total = std::fs::read_to_string("/proc/meminfo").ok();
    let total = total.and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
        line?.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()
    });
    let total = total.map_or(ASSUMED, |kilobytes| 1024.0 * kilobytes);
    let group = std::fs::read_to_string(Path::new("/sys/fs/cgroup/memory.max")).ok();
    let group = group.and_then(|text| text.trim().parse::<f64>().ok());
    group.map_or(total, |group| group.min(total))
}

/// 28.8 GB.
fn shown(bytes: f64) -> String {
    match bytes {
        b if b < 1e6 => format!("{:.1} kB", b / 1e3),
        b if b < 1e9 => format!("{:.1} MB", b / 1e6),
        b => format!("{:.1} GB", b / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_beyond_memory_is_refused_with_both_numbers() {
        assert!(refuse_beyond("records", 1e9, 2e9, "fewer").is_ok());
        let refused = refuse_beyond("records = 100", 28.8e9, 16e9, "fewer").unwrap_err();
        assert!(matches!(refused, Error::Refused { .. }));
        assert_eq!(
            refused.to_string(),
            "refused: records = 100\n  because it needs about 28.8 GB of memory, and this machine has 16.0 GB\n  instead: fewer"
        );
        assert!(refuse_beyond("records", f64::NAN, 16e9, "fewer").is_err());
        assert!(of_this_machine() > 1e6);
    }
}
