//! A scan: where it starts, and who receives the entries.

use crate::abi;
use crate::types::{Result, view};
use std::error::Error;
use std::ffi::{c_int, c_void};
use std::ops::Bound;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Forward,
    Backward,
}

/// What `Engine::scan` is asked for.
///
/// Each entry is handed over at once: a call costs less than copying an entry to a chunk would.
pub struct Scan<'a> {
    pub start: &'a [u8],
    pub order: Order,
    pub(crate) visit: abi::kvm_visit,
    pub(crate) context: *mut c_void,
}

impl<'a> Scan<'a> {
    /// Returns the keys that all others are at or above, and at or below, if there are bounds.
    pub fn bounds(&self) -> (Option<&'a [u8]>, Option<&'a [u8]>) {
        match self.order {
            _ if self.start.is_empty() => (None, None),
            Order::Forward => (Some(self.start), None),
            Order::Backward => (None, Some(self.start)),
        }
    }

    /// Returns the keys, as a range of an ordered map.
    pub fn range(&self) -> (Bound<&'a [u8]>, Bound<&'a [u8]>) {
        let bound = |key: Option<_>| key.map_or(Bound::Unbounded, Bound::Included);
        let (low, high) = self.bounds();
        (bound(low), bound(high))
    }

    /// Hands over an entry, and returns whether the scan continues.
    #[inline]
    pub fn visit(&mut self, key: &[u8], value: &[u8]) -> bool {
        let entry = abi::kvm_entry { key: view(key), value: view(value) };
        // SAFETY: the caller's function and context, during its scan.
        let goes_on: c_int = unsafe { (self.visit)(self.context, &entry, 1) };
        goes_on != 0
    }

    /// Hands over the entries of an iterator that is in the order of the scan.
    pub fn visit_each<K: AsRef<[u8]>, V: AsRef<[u8]>, E: Error>(
        &mut self,
        entries: impl Iterator<Item = std::result::Result<(K, V), E>>,
    ) -> Result<()> {
        for entry in entries {
            let (key, value) = entry?;
            if !self.visit(key.as_ref(), value.as_ref()) {
                break;
            }
        }
        Ok(())
    }

    /// Hands over the entries of an iterator over [`Self::range`].
    pub fn visit_range<K: AsRef<[u8]>, V: AsRef<[u8]>, E: Error>(
        &mut self,
        mut range: impl DoubleEndedIterator<Item = std::result::Result<(K, V), E>>,
    ) -> Result<()> {
        match self.order {
            Order::Forward => self.visit_each(range),
            Order::Backward => self.visit_each(std::iter::from_fn(|| range.next_back())),
        }
    }
}
