//! The types of kvmatrix/driver.h.  tests/layout.rs compares them with it.

#![allow(non_camel_case_types)]

use std::ffi::{c_char, c_int, c_void};

pub const KVM_ABI: u32 = 1;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct kvm_bytes {
    pub data: *const c_char,
    pub size: usize,
}

/// An enum of C, which is wider than the values that it names.
pub type kvm_status = u32;
pub const KVM_OK: kvm_status = 0;
pub const KVM_ABSENT: kvm_status = 1;
pub const KVM_UNSUPPORTED: kvm_status = 2;
pub const KVM_FAILED: kvm_status = 3;

#[repr(C)]
pub struct kvm_error {
    pub text: [c_char; 512],
}

#[repr(C)]
pub struct kvm_update {
    pub key: kvm_bytes,
    pub value: kvm_bytes,
    pub is_delete: i32,
}

#[repr(C)]
pub struct kvm_entry {
    pub key: kvm_bytes,
    pub value: kvm_bytes,
}

pub const KVM_BUFFERED: u32 = 0;
pub const KVM_CONSISTENT: u32 = 1;
pub const KVM_DURABLE: u32 = 2;

#[repr(C)]
pub struct kvm_options {
    pub size: u32,
    pub durability: u32,
    pub path: *const c_char,
    pub cache_size: u64,
    pub threads: u64,
    pub expected_entries: u64,
    pub key_size: u64,
    pub value_size: u64,
    pub flags: *const *const c_char,
    pub compression: u32,
    pub unused: u32,
}

#[repr(C)]
pub struct kvm_limits {
    pub size: u32,
    pub unused: u32,
    pub key_size: u64,
    pub value_size: u64,
    pub batch_size: u64,
}

#[repr(C)]
pub struct kvm_flag {
    pub name: *const c_char,
    pub r#type: *const c_char,
    pub default_value: *const c_char,
    pub help: *const c_char,
}

pub type kvm_promise = u32;
pub const KVM_NOT_OFFERED: kvm_promise = 0;
pub const KVM_LOSES_NOTHING: kvm_promise = 1;
pub const KVM_LOSES_NEWEST: kvm_promise = 2;
pub const KVM_MAY_BE_CORRUPT: kvm_promise = 3;

#[repr(C)]
pub struct kvm_guarantee {
    pub promise: kvm_promise,
    pub source: *const c_char,
}

pub type kvm_visit = unsafe extern "C" fn(*mut c_void, *const kvm_entry, usize) -> c_int;

pub const KVM_UNORDERED: u32 = 0;
pub const KVM_FORWARD: u32 = 1;
pub const KVM_BOTH_WAYS: u32 = 2;

pub const KVM_STORES_NOTHING: u32 = 1;
pub const KVM_KEEPS_THREADS: u32 = 2;
pub const KVM_COMPILES_LATE: u32 = 4;
pub const KVM_OWN_SYSTEM_CALLS: u32 = 8;

type Text = unsafe extern "C" fn(*mut c_void, *mut c_char, usize) -> usize;
type Call = unsafe extern "C" fn(*mut c_void, *mut kvm_error) -> kvm_status;

#[repr(C)]
pub struct kvm_driver {
    pub abi: u32,
    pub size: u32,
    pub name: *const c_char,
    pub licence: *const c_char,
    pub codec: *const c_char,
    pub origin: *const c_char,
    pub origin_sha256: *const c_char,
    pub engine_flags: *const c_char,
    pub scans: u32,
    pub properties: u32,
    pub flags: *const kvm_flag,
    pub flag_count: usize,
    pub code: *const c_void,
    pub version: extern "C" fn() -> *const c_char,
    pub guarantees: unsafe extern "C" fn(*const *const c_char, *mut kvm_guarantee),
    pub open:
        unsafe extern "C" fn(*const kvm_options, *mut *mut c_void, *mut kvm_error) -> kvm_status,
    pub close: Call,
    pub limits: Option<unsafe extern "C" fn(*mut c_void, *mut kvm_limits)>,
    pub flush: Call,
    pub settle: Call,
    pub compact: Option<Call>,
    pub settings: Text,
    pub counters: Option<Text>,
    pub session: unsafe extern "C" fn(*mut c_void, *mut *mut c_void, *mut kvm_error) -> kvm_status,
    pub end: unsafe extern "C" fn(*mut c_void),
    pub write:
        unsafe extern "C" fn(*mut c_void, *const kvm_update, usize, *mut kvm_error) -> kvm_status,
    pub get:
        unsafe extern "C" fn(*mut c_void, kvm_bytes, *mut kvm_bytes, *mut kvm_error) -> kvm_status,
    pub scan: unsafe extern "C" fn(
        *mut c_void,
        kvm_bytes,
        c_int,
        kvm_visit,
        *mut c_void,
        *mut kvm_error,
    ) -> kvm_status,
    pub unused: *const c_void,
}

// Constant data, as are the texts and flags that it points to.
unsafe impl Sync for kvm_driver {}
unsafe impl Sync for kvm_flag {}
