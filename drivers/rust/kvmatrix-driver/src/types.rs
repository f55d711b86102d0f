//! What an engine receives and returns.

use crate::abi;
use std::ffi::{CStr, c_char};
use std::path::PathBuf;
use std::str::FromStr;

/// Why a call failed.
#[derive(Debug)]
pub enum Error {
    /// The engine cannot do it: an answer of `open` and `compact` only.
    Unsupported(String),
    Failed(String),
}
pub type Result<T> = std::result::Result<T, Error>;

impl<E: std::error::Error> From<E> for Error {
    fn from(error: E) -> Self {
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            text += &format!(": {cause}");
            source = cause.source();
        }
        Error::Failed(text)
    }
}

/// What a crash of the machine may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    Buffered,
    Consistent,
    Durable,
}

#[derive(Clone, Copy)]
pub enum Scans {
    Unordered,
    ForwardOnly,
    BothWays,
}

/// How to open a database.
pub struct Options {
    pub path: PathBuf,
    pub durability: Durability,
    pub cache_size: u64,
    pub compression: bool,
    pub threads: u64,
    pub expected_entries: u64,
    pub key_size: u64,
    pub value_size: u64,
    pub flags: Flags,
}

impl Options {
    /// Returns whether nothing may be lost whose write has returned.
    pub fn is_durable(&self) -> bool {
        self.durability == Durability::Durable
    }
}

/// The values of `Engine::FLAGS`, valid during the call that received them.
pub struct Flags {
    pub(crate) defined: &'static [abi::kvm_flag],
    pub(crate) values: *const *const c_char,
}

impl Flags {
    /// Returns the value of a flag of this engine.
    ///
    /// # Panics
    /// If there is no such flag or it has another type.
    pub fn get<T: FromStr>(&self, name: &CStr) -> T {
        let text = self.find(name).unwrap_or_else(|| panic!("no flag {name:?}"));
        text.parse().unwrap_or_else(|_| panic!("{name:?} is {text:?}"))
    }

    /// Returns the value of a flag, if there is such a flag.
    pub(crate) fn find(&self, name: &CStr) -> Option<&str> {
        self.all().find(|(defined, _)| *defined == name).map(|(_, value)| value)
    }

    /// Returns the flags that `settings` lacks, as settings.
    pub(crate) fn missing_from(&self, settings: &[Setting]) -> Vec<Setting> {
        let is_missing = |name: &CStr| settings.iter().all(|(other, _)| *other != text(name));
        let all = self.all().filter(|(name, _)| is_missing(name));
        // The bridge itself holds readers.
        let setting = |name| if name == HOLD { reported } else { requested };
        all.map(|(name, value)| setting(name)(text(name), value)).collect()
    }

    /// Returns the names and values of all flags.
    fn all(&self) -> impl Iterator<Item = (&'static CStr, &str)> {
        self.defined.iter().enumerate().map(|(index, flag)| {
            // SAFETY: flags are made by flag(), and values by the caller in C.
            let name = unsafe { CStr::from_ptr(flag.name) };
            let value = unsafe { CStr::from_ptr(*self.values.add(index)) };
            (name, text(value))
        })
    }
}

/// Returns a name or value, all of which are UTF-8.
pub(crate) const fn text(text: &CStr) -> &str {
    match text.to_str() {
        Ok(text) => text,
        Err(_) => panic!("a name or value is not UTF-8"),
    }
}

/// Describes a setting that only one engine has.  `kind` is `c"bool"`,
/// `c"int64"`, `c"uint64"`, `c"double"` or `c"string"`.
pub const fn flag(
    name: &'static CStr,
    kind: &'static CStr,
    default_value: &'static CStr,
    help: &'static CStr,
) -> abi::kvm_flag {
    abi::kvm_flag {
        name: name.as_ptr(),
        r#type: kind.as_ptr(),
        default_value: default_value.as_ptr(),
        help: help.as_ptr(),
    }
}

/// For engines whose readers are worth keeping.
pub const HOLD_READ_TXN: abi::kvm_flag = flag(
    HOLD,
    c"bool",
    c"false",
    c"keep a session's read transaction until something is committed, instead of beginning one \
      for each read",
);
pub(crate) const HOLD: &CStr = c"hold_read_txn";

/// What an engine documents of a crash of the machine.
#[derive(Clone, Copy)]
pub enum Promise {
    NotOffered,
    LosesNothing,
    LosesNewest,
    MayBeCorrupt,
}
pub use Promise::*;

/// What the engine's documentation says, and the address where it does.
pub type Guarantee = (Promise, &'static CStr);

/// The most that a write may contain; 0: no limit.
#[derive(Default)]
pub struct Limits {
    pub key_size: u64,
    pub value_size: u64,
    pub batch_size: u64,
}

/// A setting in force: its name and value.
pub type Setting = (&'static str, String);

/// Returns a setting that the engine reports.
pub fn reported(name: &'static str, value: impl ToString) -> Setting {
    (name, value.to_string())
}

/// Returns a setting that the engine cannot report.
pub fn requested(name: &'static str, value: impl ToString) -> Setting {
    (name, value.to_string() + " (as requested)")
}

/// A put or a delete.
#[repr(transparent)]
pub struct Update(abi::kvm_update);

impl Update {
    pub fn key(&self) -> &[u8] {
        // SAFETY: the caller's bytes outlive the call that received this.
        unsafe { bytes(&self.0.key) }
    }
    /// Returns nothing if this is a delete.
    pub fn value(&self) -> Option<&[u8]> {
        // SAFETY: as above.
        (self.0.is_delete == 0).then(|| unsafe { bytes(&self.0.value) })
    }
}

/// Calls `put` or `delete` with `target`, such as a transaction, for each update in their order,
/// until one fails.
#[inline]
pub fn apply<'a, T, P, D, E>(
    batch: &'a [Update],
    target: &mut T,
    put: impl Fn(&mut T, &'a [u8], &'a [u8]) -> std::result::Result<P, E>,
    delete: impl Fn(&mut T, &'a [u8]) -> std::result::Result<D, E>,
) -> std::result::Result<(), E> {
    for update in batch {
        match update.value() {
            Some(value) => drop(put(target, update.key(), value)?),
            None => drop(delete(target, update.key())?),
        }
    }
    Ok(())
}

/// # Safety
/// The bytes exist for as long as the result is used.
#[inline]
pub(crate) unsafe fn bytes<'a>(bytes: &abi::kvm_bytes) -> &'a [u8] {
    if bytes.size == 0 {
        return &[];
    }
    // SAFETY: as required above.
    unsafe { std::slice::from_raw_parts(bytes.data.cast(), bytes.size) }
}

#[inline]
pub(crate) fn view(bytes: &[u8]) -> abi::kvm_bytes {
    abi::kvm_bytes { data: bytes.as_ptr().cast(), size: bytes.len() }
}
