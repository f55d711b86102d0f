//! Writes what the lock file and the profile say, for src/facts.rs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Returns the value of `key = "value"` in a table of a lock file.
fn value<'a>(table: &'a str, key: &str) -> Option<&'a str> {
    let prefix = format!("{key} = \"");
    let mut lines = table.lines();
    lines.find_map(|line| line.strip_prefix(&prefix)?.strip_suffix('"'))
}

/// Returns the source of a `Package` for each package of the lock file.
fn packages(lock: &str) -> String {
    let mut text = String::new();
    for table in lock.split("[[package]]").skip(1) {
        let name = value(table, "name").expect("a package has a name");
        let version = value(table, "version").expect("and a version");
        let sha256 = value(table, "checksum").unwrap_or("");
        text += &format!(
            "Package {{ name: {name:?}, version: c{version:?}, \
             origin: c\"crate {name} {version}\", sha256: c{sha256:?} }},\n"
        );
    }
    text
}

/// Returns the lines of [profile.release], joined.
fn profile(manifest: &str) -> String {
    let table = manifest.split("[profile.release]\n").nth(1).unwrap_or("");
    let table = table.split("\n[").next().unwrap_or("");
    let lines = table.lines().map(str::trim);
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", ")
}

fn compiler() -> String {
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC");
    let output = Command::new(rustc).arg("--version").output();
    let text = output.expect("rustc runs").stdout;
    String::from_utf8_lossy(&text).trim().to_string()
}

/// Returns the lock file and the root manifest of the workspace.
fn workspace() -> (PathBuf, PathBuf) {
    println!("cargo::rerun-if-env-changed=KVM_WORKSPACE");
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let root = env::var_os("KVM_WORKSPACE").map_or(own, PathBuf::from);
    (root.join("Cargo.lock"), root.join("Cargo.toml"))
}

fn main() {
    let (lock, manifest) = workspace();
    for path in [&lock, &manifest] {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    println!("cargo::rerun-if-env-changed=RUSTFLAGS");
    let read = |path: &Path| {
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let level = env::var("OPT_LEVEL").expect("cargo sets OPT_LEVEL");
    let mut flags = format!("{}, {}", compiler(), profile(&read(&manifest)));
    if env::var("PROFILE").as_deref() != Ok("release") {
        flags = format!("{}, not release: opt-level = {level}", compiler());
    }
    let extra = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    if !extra.is_empty() {
        flags += &format!(", {}", extra.replace('\x1f', " "));
    }
    let text = format!(
        "pub const FLAGS: &CStr = c{flags:?};\n\
         pub const PACKAGES: &[Package] = &[\n{}];\n",
        packages(&read(&lock))
    );
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("facts.rs"), text).expect("OUT_DIR can be written");
}
