//! The reader that a session keeps.

use crate::types::Result;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the writes of all sessions.
#[derive(Default)]
pub(crate) struct Commits(AtomicU64);

impl Commits {
    /// To be called before a write returns.
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

/// A session's reader, if it has one.
pub(crate) struct KeptReader<R> {
    commits: u64, // when it was made
    reader: Option<R>,
}

impl<R> KeptReader<R> {
    pub const fn none() -> Self {
        KeptReader { commits: 0, reader: None }
    }

    pub fn give_up(&mut self) {
        self.reader = None;
    }

    /// Returns a reader that sees all writes that have returned: a new one or, with `hold`, the
    /// one that is kept if no write has returned since it was made.
    pub fn newest(
        &mut self,
        hold: bool,
        commits: &Commits,
        make: impl FnOnce() -> Result<R>,
    ) -> Result<&mut R> {
        let now = if hold { commits.0.load(Ordering::Acquire) } else { 0 };
        if !hold || now != self.commits {
            self.reader = None;
        }
        if self.reader.is_none() {
            self.reader = Some(make()?);
            self.commits = now;
        }
        Ok(self.reader.as_mut().expect("it was made above"))
    }
}

/// The bytes of a value that something else keeps.
pub struct View(*const [u8]);

// SAFETY: it is only read, and new() requires that the bytes exist.
unsafe impl Send for View {}

impl View {
    /// # Safety
    /// The bytes are valid until the reader that returned them is dropped.
    pub unsafe fn new(bytes: &[u8]) -> Self {
        View(bytes)
    }
}

impl AsRef<[u8]> for View {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: as new() requires.
        unsafe { &*self.0 }
    }
}
