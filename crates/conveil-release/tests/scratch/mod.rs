//! A folder that goes away with the test.
#![allow(dead_code)] // each test file uses its part

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A folder of this test's own.
pub struct Scratch(PathBuf);

impl Scratch {
    /// On the disk that holds temporary files.
    pub fn new() -> Scratch {
        Scratch::under(&std::env::temp_dir())
    }

    /// In memory where the system offers that: for what does not depend on a disk and is done a thousand times.
    pub fn fast() -> Scratch {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() {
            Scratch::under(memory)
        } else {
            Scratch::new()
        }
    }

    fn under(folder: &Path) -> Scratch {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("conveil-ledger-{}-{number}", std::process::id());
        let path = folder.join(name);
        std::fs::create_dir(&path).unwrap();
        Scratch(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
