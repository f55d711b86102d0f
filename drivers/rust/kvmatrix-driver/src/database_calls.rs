//! The functions of a `kvm_driver` that use a database, for any engine.

use crate::abi::*;
use crate::engine::Engine;
use crate::facts;
use crate::reader::Commits;
use crate::session_calls::Exported;
use crate::types::{Durability, Error, Flags, HOLD, Options, Promise, Result, Setting};
use std::any::Any;
use std::ffi::{CStr, OsStr, c_char, c_void};
use std::fmt::Display;
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

/// A database, as C sees it.
pub struct Opened<E: Engine> {
    pub engine: E,
    pub settings: Vec<Setting>,        // in force since it was opened
    pub sessions: Mutex<Vec<Kept<E>>>, // those that exist
    pub holds_readers: bool,           // until something is committed
    pub commits: Commits,
}

pub struct Kept<E: Engine>(pub *mut Exported<E>);
// SAFETY: readers and values are Send, and no session is inside a call when
// another thread uses one (common/driver.h).
unsafe impl<E: Engine> Send for Kept<E> {}

impl<E: Engine> Opened<E> {
    /// Closes what idle sessions keep open.
    fn release_sessions(&self) {
        for Kept(session) in self.sessions.lock().expect("no panic").iter() {
            // SAFETY: end() removes a session before it is dropped.
            unsafe { (**session).give_up_all() };
        }
    }
}

fn message(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("panicked: {}", text.unwrap_or_else(|| "no message".into()))
}

#[cold]
fn explain(problem: Error, error: *mut kvm_error) -> kvm_status {
    let (status, text) = match problem {
        Error::Unsupported(text) => (KVM_UNSUPPORTED, text),
        Error::Failed(text) => (KVM_FAILED, text),
    };
    // SAFETY: C passes an error with every call that may fail.
    let room = unsafe { &mut (*error).text };
    let fits = |end: &usize| text.is_char_boundary(*end);
    let most = text.len().min(room.len() - 1);
    let length = (0..=most).rev().find(fits).unwrap_or(0);
    for (to, from) in room.iter_mut().zip(&text.as_bytes()[..length]) {
        *to = *from as c_char;
    }
    room[length] = 0;
    status
}

/// Calls `function`; its errors and panics become a status.
#[inline]
pub fn answer(error: *mut kvm_error, function: impl FnOnce() -> Result<kvm_status>) -> kvm_status {
    match catch_unwind(AssertUnwindSafe(function)) {
        Ok(Ok(status)) => status,
        Ok(Err(problem)) => explain(problem, error),
        Err(panic) => explain(Error::Failed(message(panic)), error),
    }
}

pub extern "C" fn version<E: Engine>() -> *const c_char {
    const { facts::package(E::CRATE).version }.as_ptr()
}

pub unsafe extern "C" fn guarantees<E: Engine>(
    values: *const *const c_char,
    result: *mut kvm_guarantee,
) {
    let flags = Flags { defined: E::FLAGS, values };
    let documented = catch_unwind(|| E::guarantees(&flags));
    let documented = documented.unwrap_or([(Promise::NotOffered, c""); 3]);
    for (i, (promise, source)) in documented.into_iter().enumerate() {
        let promise = match promise {
            Promise::NotOffered => KVM_NOT_OFFERED,
            Promise::LosesNothing => KVM_LOSES_NOTHING,
            Promise::LosesNewest => KVM_LOSES_NEWEST,
            Promise::MayBeCorrupt => KVM_MAY_BE_CORRUPT,
        };
        let guarantee = kvm_guarantee { promise, source: source.as_ptr() };
        // SAFETY: the result has three elements.
        unsafe { result.add(i).write(guarantee) };
    }
}

pub unsafe extern "C" fn open<E: Engine>(
    o: *const kvm_options,
    database: *mut *mut c_void,
    error: *mut kvm_error,
) -> kvm_status {
    answer(error, || {
        // SAFETY: the caller's options, and its place for the database.
        let o = unsafe { &*o };
        let path = unsafe { CStr::from_ptr(o.path) }.to_bytes();
        let options = Options {
            path: OsStr::from_bytes(path).into(),
            durability: match o.durability {
                KVM_BUFFERED => Durability::Buffered,
                KVM_CONSISTENT => Durability::Consistent,
                _ => Durability::Durable,
            },
            cache_size: o.cache_size,
            compression: o.compression != 0,
            threads: o.threads,
            expected_entries: o.expected_entries,
            key_size: o.key_size,
            value_size: o.value_size,
            flags: Flags { defined: E::FLAGS, values: o.flags },
        };
        // Some engines would create it.
        if !options.path.is_dir() {
            let problem = format!("no such directory: {}", options.path.display());
            return Err(Error::Failed(problem));
        }
        let (engine, mut settings) = E::open(&options)?;
        settings.extend(options.flags.missing_from(&settings));
        let opened = Opened {
            engine,
            settings,
            sessions: Mutex::default(),
            holds_readers: options.flags.find(HOLD).is_some_and(|value| value == "true"),
            commits: Commits::default(),
        };
        unsafe { *database = Box::into_raw(Box::new(opened)).cast() };
        Ok(KVM_OK)
    })
}

pub unsafe extern "C" fn close<E: Engine>(
    database: *mut c_void,
    error: *mut kvm_error,
) -> kvm_status {
    answer(error, || {
        // SAFETY: what open() made, and not used again.
        let opened = unsafe { Box::from_raw(database.cast::<Opened<E>>()) };
        opened.engine.close()?;
        Ok(KVM_OK)
    })
}

/// # Safety
/// `database` was made by open() and has not been closed.
pub unsafe fn opened<'a, E: Engine>(database: *mut c_void) -> &'a Opened<E> {
    unsafe { &*database.cast() }
}

pub unsafe extern "C" fn limits<E: Engine>(database: *mut c_void, result: *mut kvm_limits) {
    // SAFETY: an open database, and the caller's place for the result.
    let limits =
        catch_unwind(AssertUnwindSafe(|| unsafe { opened::<E>(database).engine.limits() }));
    let Ok(limits) = limits else { return };
    let result = unsafe { &mut *result };
    result.key_size = limits.key_size;
    result.value_size = limits.value_size;
    result.batch_size = limits.batch_size;
}

pub unsafe extern "C" fn flush<E: Engine>(
    database: *mut c_void,
    error: *mut kvm_error,
) -> kvm_status {
    answer(error, || {
        // SAFETY: an open database.
        let opened = unsafe { opened::<E>(database) };
        opened.release_sessions();
        opened.engine.flush()?;
        Ok(KVM_OK)
    })
}

pub unsafe extern "C" fn settle<E: Engine>(
    database: *mut c_void,
    error: *mut kvm_error,
) -> kvm_status {
    answer(error, || {
        // SAFETY: an open database.
        let opened = unsafe { opened::<E>(database) };
        opened.release_sessions();
        opened.engine.settle()?;
        Ok(KVM_OK)
    })
}

pub unsafe extern "C" fn compact<E: Engine>(
    database: *mut c_void,
    error: *mut kvm_error,
) -> kvm_status {
    answer(error, || {
        // SAFETY: an open database, of which no session is inside a call.
        let opened = unsafe { &mut *database.cast::<Opened<E>>() };
        opened.release_sessions();
        opened.engine.compact()?;
        Ok(KVM_OK)
    })
}

/// Writes lines "name=value".
fn write_lines<V: Display>(lines: &[(&str, V)], text: *mut c_char, room: usize) -> usize {
    let all: String = lines.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
    // SAFETY: the caller's text has that room.
    unsafe { all.as_ptr().copy_to_nonoverlapping(text.cast(), all.len().min(room)) };
    all.len()
}

pub unsafe extern "C" fn settings<E: Engine>(
    database: *mut c_void,
    text: *mut c_char,
    room: usize,
) -> usize {
    // SAFETY: an open database.
    write_lines(unsafe { &opened::<E>(database).settings }, text, room)
}

pub unsafe extern "C" fn counters<E: Engine>(
    database: *mut c_void,
    text: *mut c_char,
    room: usize,
) -> usize {
    // SAFETY: an open database.
    let engine = unsafe { &opened::<E>(database).engine };
    match catch_unwind(AssertUnwindSafe(|| engine.counters())) {
        Ok(counters) => write_lines(&counters, text, room),
        Err(panic) => write_lines(&[("counters", message(panic))], text, room),
    }
}
