//! Questions on standard error, and lines of answers from a terminal.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use conveil::solve::Cancel;
use conveil_workbench::starter::Asker;
use conveil_workbench::{Failure, Kind};

use crate::terminal::Terminal;

/// How often an interruption is looked for while nobody types.
const PATIENCE: Duration = Duration::from_millis(50);

/// Longer answers are cut.
const LONGEST_ANSWER: usize = 4096;

/// The lines that somebody types.
pub(crate) struct Lines<'t> {
    typed: Receiver<std::io::Result<String>>,
    terminal: &'t Terminal,
    cancel: Cancel,
}

impl<'t> Lines<'t> {
    /// Whether somebody sees questions and can answer.
    pub(crate) fn are_asked() -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// Reads lines from now on. A thread of its own waits for them, because an interruption does not end a read.
    pub(crate) fn open(terminal: &'t Terminal, cancel: &Cancel) -> Result<Self, Failure> {
        let (send, typed) = channel();
        let thread = std::thread::Builder::new().name("answers".into());
        thread
            .spawn(move || {
                for line in std::io::stdin().lines() {
                    if send.send(line).is_err() {
                        return;
                    }
                }
            })
            .map_err(|why| not_read(&why))?;
        Ok(Lines {
            typed,
            terminal,
            cancel: cancel.clone(),
        })
    }
}

impl Asker for Lines<'_> {
    fn say(&mut self, text: &str) {
        self.terminal.say(text);
    }

    fn ask(&mut self, question: &str) -> Result<Option<String>, Failure> {
        let mut stderr = std::io::stderr();
        let written = stderr.write_all(question.as_bytes());
        written
            .and_then(|()| stderr.flush())
            .map_err(|why| not_read(&why))?;
        loop {
            if self.cancel.is_raised() {
                return Err(Failure::interrupted());
            }
            match self.typed.recv_timeout(PATIENCE) {
                Ok(Ok(line)) => return Ok(Some(line.chars().take(LONGEST_ANSWER).collect())),
                Ok(Err(why)) => return Err(not_read(&why)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }
}

fn not_read(why: &std::io::Error) -> Failure {
    Failure::new(Kind::Input, format!("cannot ask on this terminal: {why}"))
}
