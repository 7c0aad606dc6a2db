//! The `conveil` command.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

fn main() -> std::process::ExitCode {
    conveil_cli::main()
}
