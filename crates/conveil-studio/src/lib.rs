//! A local page on the workbench: open a spec, move its settings, look, compare, audit and release.
//!
//! The page runs at public data until its curator switches to the private ones. Settings moved after that are marked, on the page
//! and on what is released then: the guarantee is for settings that do not depend on the data.
//!
//! - `guard`: who may talk to the server: one token, one cookie, one host, one origin.
//! - `desk`: what is open, for all tabs together.
//! - `view`, `jobs`, `release`, `book`: what a tab asks for.
//! - `routes`: addresses, and nothing else.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod book;
mod desk;
mod guard;
mod jobs;
mod page;
mod release;
mod routes;
#[cfg(test)]
mod safety;
mod view;

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use conveil::solve::Cancel;
use conveil_workbench::{Failure, Kind};

use desk::Desk;
use guard::Guard;

/// What is served, and where.
#[derive(Debug, Clone)]
pub struct Studio {
    /// The folder that specs and data lie in; no other file is opened.
    pub folder: PathBuf,
    /// The spec to open first, inside the folder.
    pub spec: Option<PathBuf>,
    /// The port on 127.0.0.1; 0 for any that is free.
    pub port: u16,
}

/// How often the server looks whether it should stop.
const LOOK: Duration = Duration::from_millis(100);

impl Studio {
    /// Serves until it is stopped. `ready` is told the address to open, once.
    ///
    /// # Guarantee
    /// Bound to 127.0.0.1 alone; whoever has neither the token nor its cookie gets nothing; what comes from another origin or for
    /// another host is refused; no file outside of the folder is opened.
    pub fn serve(
        &self,
        cancel: &Cancel,
        ready: impl FnOnce(&str) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if let Some(why) = page::why_not() {
            return Err(Failure::input(format!(
                "this build has no page: {why}\n  help: install node with npm, and build again"
            )));
        }
        let desk = Desk::new(&self.folder)?;
        if let Some(spec) = &self.spec {
            desk.open_at(spec)?;
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(not_served)?;
        let served = runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).await?;
            let port = listener.local_addr()?.port();
            let guard = Arc::new(Guard::new(port).map_err(std::io::Error::other)?);
            let address = guard.address();
            let routes = routes::all(Arc::new(desk), guard);
            if let Err(failure) = ready(&address) {
                return Ok(Err(failure));
            }
            let stop = cancel.clone();
            tokio::select! {
                served = async { axum::serve(listener, routes).await } => served?,
                () = async {
                    while !stop.is_raised() {
                        tokio::time::sleep(LOOK).await;
                    }
                } => {}
            }
            Ok(Ok(()))
        });
        // Work that does not look at its flag must not hold the process.
        runtime.shutdown_background();
        served.map_err(not_served)?
    }
}

fn not_served(why: std::io::Error) -> Failure {
    Failure::new(Kind::NotWritten, format!("cannot serve the page: {why}"))
}
