//! Generates code of the client from the contract.
//!
//! It writes four files: the messages (by prost), the setters and constructors of those that a caller sends, a method
//! of the client for each RPC, and the bare stubs (by tonic) that the benchmark compares the client with. They are
//! committed, so that users of the client need neither this program nor protoc.

mod contract;
mod methods;
mod setters;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

use contract::{Contract, PACKAGE};
use prost_types::FileDescriptorSet;

const HEADER: &str = "// Made by ./generate.sh out of the contract; do not edit.\n\n";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let made = made_files(&home)?;
    if !env::args().any(|argument| argument == "--check") {
        for (path, text) in made {
            fs::write(path, text)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut fresh = ExitCode::SUCCESS;
    for (path, text) in made {
        if fs::read_to_string(&path).unwrap_or_default() != text {
            eprintln!("{} is not what the contract says: run ./generate.sh", path.display());
            fresh = ExitCode::FAILURE;
        }
    }
    Ok(fresh)
}

fn made_files(home: &Path) -> Result<Vec<(PathBuf, String)>, Box<dyn Error>> {
    let contract = Contract::read(&home.join("../../protos"))?;
    let generated = home.join("src/generated");
    let files = [
        (generated.join("messages.rs"), messages(&contract)?),
        (generated.join("setters.rs"), setters::module(&contract)),
        (generated.join("methods.rs"), methods::module(&contract)),
        (home.join("benchmark/src/stubs.rs"), stubs(&contract)?),
    ];
    files
        .into_iter()
        .map(|(path, text)| Ok((path, formatted(&format!("{HEADER}{text}"), home)?)))
        .collect()
}

/// Makes the structs non-exhaustive, so that a field that a later contract adds breaks no caller.
fn messages(contract: &Contract) -> Result<String, Box<dyn Error>> {
    let builder = tonic_prost_build::configure()
        .build_client(false)
        .build_server(false)
        .type_attribute(".", "#[non_exhaustive]");
    compiled(builder, contract.files.clone())
}

/// Removes what the benchmark does not need: other services, and comments.
fn stubs(contract: &Contract) -> Result<String, Box<dyn Error>> {
    let mut files = contract.files.clone();
    for file in &mut files.file {
        file.source_code_info = None;
        file.service.retain(|service| service.name() == "MemoryService");
    }
    let builder = tonic_prost_build::configure()
        .build_server(false)
        .extern_path(format!(".{PACKAGE}"), "::memsidecar_client::v1");
    compiled(builder, files)
}

fn compiled(builder: tonic_prost_build::Builder, files: FileDescriptorSet) -> Result<String, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    builder.out_dir(folder.path()).compile_fds(files)?;
    Ok(fs::read_to_string(folder.path().join(format!("{PACKAGE}.rs")))?)
}

/// Formats the file like the rest of the code.
fn formatted(text: &str, home: &Path) -> Result<String, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("made.rs");
    fs::write(&file, text)?;
    let rustfmt = env::var_os("RUSTFMT").unwrap_or_else(|| "rustfmt".into());
    let status = Command::new(rustfmt)
        .args(["--edition", "2024", "--config-path"])
        .args([home, &file])
        .status()?;
    if !status.success() {
        return Err("rustfmt does not understand what was made".into());
    }
    Ok(fs::read_to_string(&file)?)
}
