//! What a plug-in is made of: from Cargo.lock and [profile.release].

use std::ffi::CStr;

/// A package of the lock file; the checksum of one in this workspace is empty.
pub struct Package {
    pub name: &'static str,
    pub version: &'static CStr,
    pub origin: &'static CStr,
    pub sha256: &'static CStr,
}

include!(concat!(env!("OUT_DIR"), "/facts.rs"));

const fn equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// Returns the package of that name.  Compilation fails unless there is exactly
/// one.
pub const fn package(name: &str) -> &'static Package {
    let mut found: Option<&Package> = None;
    let mut i = 0;
    while i < PACKAGES.len() {
        if equal(PACKAGES[i].name, name) {
            assert!(found.is_none(), "Cargo.lock has two versions of CRATE");
            found = Some(&PACKAGES[i]);
        }
        i += 1;
    }
    found.expect("Cargo.lock has no package with the name CRATE")
}
