//! The `kvm_driver` of any engine.

use crate::abi::*;
use crate::database_calls::*;
use crate::engine::Engine;
use crate::facts;
use crate::session_calls::*;
use crate::types::Scans;

/// Returns the description of an engine, for `export!`.
pub const fn describe<E: Engine>() -> kvm_driver {
    let package = facts::package(E::CRATE);
    kvm_driver {
        abi: KVM_ABI,
        size: size_of::<kvm_driver>() as u32,
        name: E::NAME.as_ptr(),
        licence: E::LICENCE.as_ptr(),
        codec: E::CODEC.as_ptr(),
        origin: package.origin.as_ptr(),
        origin_sha256: package.sha256.as_ptr(),
        engine_flags: facts::FLAGS.as_ptr(),
        scans: match E::SCANS {
            Scans::Unordered => KVM_UNORDERED,
            Scans::ForwardOnly => KVM_FORWARD,
            Scans::BothWays => KVM_BOTH_WAYS,
        },
        properties: E::PROPERTIES,
        flags: E::FLAGS.as_ptr(),
        flag_count: E::FLAGS.len(),
        code: std::ptr::null(),
        version: version::<E>,
        guarantees: guarantees::<E>,
        open: open::<E>,
        close: close::<E>,
        limits: Some(limits::<E>),
        flush: flush::<E>,
        settle: settle::<E>,
        compact: Some(compact::<E>),
        settings: settings::<E>,
        counters: Some(counters::<E>),
        session: session::<E>,
        end: end::<E>,
        write: write::<E>,
        get: get::<E>,
        scan: scan::<E>,
        unused: std::ptr::null(),
    }
}
