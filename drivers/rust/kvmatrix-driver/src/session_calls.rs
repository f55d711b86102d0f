//! The functions of a `kvm_driver` that use a session, for any engine.

use crate::abi::*;
use crate::database_calls::{Kept, Opened, answer, opened};
use crate::engine::Engine;
use crate::reader::KeptReader;
use crate::scan::{Order, Scan};
use crate::types::{Result, Update, bytes, view};
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A session, as C sees it.
pub struct Exported<E: Engine> {
    database: *mut Opened<E>,
    value: Option<E::Value>, // the answer of the last get
    reader: KeptReader<E::Reader>,
}

impl<E: Engine> Exported<E> {
    #[inline]
    fn reader(&mut self, database: &Opened<E>) -> Result<&mut E::Reader> {
        let make = || database.engine.reader();
        self.reader.newest(database.holds_readers, &database.commits, make)
    }

    /// Closes what an idle session keeps open.
    pub fn give_up_all(&mut self) {
        self.value = None;
        self.reader.give_up();
    }
}

pub unsafe extern "C" fn session<E: Engine>(
    database: *mut c_void,
    session: *mut *mut c_void,
    error: *mut kvm_error,
) -> kvm_status {
    answer(error, || {
        // SAFETY: an open database, and the caller's place for the session.
        let opened = unsafe { opened::<E>(database) };
        let exported = Box::into_raw(Box::new(Exported::<E> {
            database: database.cast(),
            value: None,
            reader: KeptReader::none(),
        }));
        opened.sessions.lock().expect("no panic").push(Kept(exported));
        unsafe { *session = exported.cast() };
        Ok(KVM_OK)
    })
}

pub unsafe extern "C" fn end<E: Engine>(session: *mut c_void) {
    let session = session.cast::<Exported<E>>();
    // A session whose drop panics has nobody to tell.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: what session() made, and not used again.
        let opened = unsafe { &*(*session).database };
        let mut sessions = opened.sessions.lock().expect("no panic");
        sessions.retain(|kept| kept.0 != session);
        drop(sessions);
        drop(unsafe { Box::from_raw(session) });
    }));
}

/// Returns a session for a call: the answers of the last one are given up.
///
/// # Safety
/// `session` was made by session() and is not inside a call.
#[inline]
unsafe fn used<'a, E: Engine>(session: *mut c_void) -> (&'a Opened<E>, &'a mut Exported<E>) {
    unsafe {
        let exported = &mut *session.cast::<Exported<E>>();
        exported.value = None;
        (&*exported.database, exported)
    }
}

pub unsafe extern "C" fn write<E: Engine>(
    session: *mut c_void,
    updates: *const kvm_update,
    n: usize,
    error: *mut kvm_error,
) -> kvm_status {
    answer(error, || {
        // SAFETY: a session and n updates; Update is transparent.
        let (database, exported) = unsafe { used::<E>(session) };
        let batch = unsafe { std::slice::from_raw_parts(updates.cast::<Update>(), n) };
        exported.reader.give_up();
        let written = database.engine.write(batch);
        database.commits.add();
        written.map(|()| KVM_OK)
    })
}

pub unsafe extern "C" fn get<E: Engine>(
    session: *mut c_void,
    key: kvm_bytes,
    value: *mut kvm_bytes,
    error: *mut kvm_error,
) -> kvm_status {
    answer(error, || {
        // SAFETY: a session, a key, and the caller's place for the value.
        let (database, exported) = unsafe { used::<E>(session) };
        let key = unsafe { bytes(&key) };
        let Some(found) = database.engine.get(exported.reader(database)?, key)? else {
            return Ok(KVM_ABSENT);
        };
        let kept = exported.value.insert(found);
        unsafe { *value = view(kept.as_ref()) };
        Ok(KVM_OK)
    })
}

pub unsafe extern "C" fn scan<E: Engine>(
    session: *mut c_void,
    start: kvm_bytes,
    backward: c_int,
    visit: kvm_visit,
    context: *mut c_void,
    error: *mut kvm_error,
) -> kvm_status {
    answer(error, || {
        // SAFETY: a session and a key.
        let (database, exported) = unsafe { used::<E>(session) };
        let start = unsafe { bytes(&start) };
        let order = if backward == 0 { Order::Forward } else { Order::Backward };
        let mut scan = Scan { start, order, visit, context };
        database.engine.scan(exported.reader(database)?, &mut scan)?;
        Ok(KVM_OK)
    })
}
