//! Which file a path leads to, and whether another path leads there too.

use super::{Error, Result};
use std::fs;
use std::path::Path;

/// A file that is known by one path only, as far as this machine can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    #[cfg(unix)]
    device: u64,
    #[cfg(unix)]
    inode: u64,
}

impl Identity {
    /// Looks at the file behind a path without links. It is never opened here: closing it would free SQLite's locks.
    pub(super) fn of(file: &Path) -> Result<Identity> {
        let not = |why: String| Error::NotALedger {
            file: file.into(),
            why,
        };
        let found = fs::metadata(file).map_err(|error| not(error.to_string()))?;
        if !found.is_file() {
            return Err(not("it is not a regular file".into()));
        }
        #[cfg(unix)]
        let identity = {
            use std::os::unix::fs::MetadataExt;
            refuse_hard_links(file, found.nlink())?;
            Identity {
                device: found.dev(),
                inode: found.ino(),
            }
        };
        #[cfg(not(unix))]
        let identity = Identity {};
        #[cfg(target_os = "linux")]
        mounts::refuse_mounted_alone(file)?;
        Ok(identity)
    }
}

#[cfg(unix)]
fn refuse_hard_links(file: &Path, names: u64) -> Result<()> {
    if names <= 1 {
        return Ok(());
    }
    Err(Error::TwoPaths {
        file: file.into(),
        why: format!("it has {names} names (hard links)"),
        instead: format!(
            "remove the other names, which `find / -xdev -samefile {}` lists; a backup is a copy of the file",
            file.display()
        ),
    })
}

/// Linux's table of mounts.
#[cfg(target_os = "linux")]
mod mounts {
    use super::{Error, Path, Result};
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;

    /// A container that is given a single file has it mounted by itself: outside it lies at another path.
    pub(super) fn refuse_mounted_alone(file: &Path) -> Result<()> {
        // Without the table (no /proc) there is nothing to look at.
        let table = fs::read("/proc/self/mountinfo").unwrap_or_default();
        if !is_mount_point(&table, file.as_os_str()) {
            return Ok(());
        }
        let folder = file.parent().unwrap_or(file).display();
        Err(Error::TwoPaths {
            file: file.into(),
            why: "it is mounted by itself, so it also lies somewhere else".into(),
            instead: format!("mount the folder that holds the ledger, at {folder} for instance"),
        })
    }

    /// Whether a line of the table has this mount point, its fifth field.
    fn is_mount_point(table: &[u8], path: &OsStr) -> bool {
        let lines = table.split(|byte| *byte == b'\n');
        let mut points = lines.filter_map(|line| line.split(|byte| *byte == b' ').nth(4));
        points.any(|point| unescaped(point) == path.as_bytes())
    }

    /// The table writes space, tab, line end and backslash as `\` and three octal digits.
    fn unescaped(field: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(field.len());
        let mut rest = field;
        while let Some((first, after)) = rest.split_first() {
            let digits = after.split_at_checked(3).filter(|_| *first == b'\\');
            let escaped = digits.and_then(|(digits, after)| Some((octal(digits)?, after)));
            let (byte, after) = escaped.unwrap_or((*first, after));
            bytes.push(byte);
            rest = after;
        }
        bytes
    }

    fn octal(digits: &[u8]) -> Option<u8> {
        let text = std::str::from_utf8(digits).ok()?;
        u8::from_str_radix(text, 8).ok()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        const TABLE: &str = "21 27 0:19 / /sys rw,nosuid shared:7 - sysfs sysfs rw
640 27 254:1 /srv/l.db /data/l.db rw,relatime shared:1 - ext4 /dev/vda rw
641 27 254:1 /a /data/two\\040words\\134and\\011tab\\012end rw - ext4 /dev/vda rw
642 27 254:1 /a /data/\\xy rw - ext4 /dev/vda rw
643 27 0:50 / /data/last\\04 rw - tmpfs tmpfs rw

short line
";

        #[test]
        fn the_mount_point_of_a_line_is_found_word_for_word() {
            for (path, expected) in [
                ("/sys", true),
                ("/data/l.db", true),
                ("/data/two words\\and\ttab\nend", true),
                ("/data/\\xy", true),
                ("/data/last\\04", true),
                ("/data", false),
                ("/data/l.d", false),
                ("/data/l.db2", false),
                ("/srv/l.db", false),
                ("/a", false),
                ("", false),
            ] {
                let found = is_mount_point(TABLE.as_bytes(), OsStr::new(path));
                assert_eq!(found, expected, "{path:?}");
            }
            assert!(!is_mount_point(b"", OsStr::new("/data/l.db")));
        }
    }
}
