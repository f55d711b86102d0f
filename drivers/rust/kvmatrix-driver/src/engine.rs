//! What an engine implements.

use crate::abi;
use crate::scan::Scan;
use crate::types::{
    Error, Flags, Guarantee, Limits, Options, Promise, Result, Scans, Setting, Update, text,
};
use std::ffi::CStr;

/// A database that is open.  The contract of each method is that of the one
/// with its name in kvmatrix's common/driver.h; what is said here is added.
///
/// An error of the engine's crate becomes an [`Error`] by `?`, and a panic
/// becomes one too.  Dropping the value closes the database; by then all
/// sessions have been dropped.
pub trait Engine: Sized + Send + Sync + 'static {
    /// The name in kvmatrix's configuration.
    const NAME: &'static CStr;
    /// The package of Cargo.lock that is measured: the version and the checksum are taken from
    /// there.
    const CRATE: &'static str = text(Self::NAME);
    /// An SPDX expression for the shared object.
    const LICENCE: &'static CStr;
    /// What `Options::compression` enables; empty: nothing.
    const CODEC: &'static CStr = c"";
    const SCANS: Scans = Scans::BothWays;
    /// `KVM_...` properties of kvmatrix/driver.h.
    const PROPERTIES: u32 = 0;
    /// Settings that only this engine has.
    const FLAGS: &'static [abi::kvm_flag] = &[];
    /// What the engine documents if it is buffered, consistent and durable.
    const PROMISES: [Promise; 3];
    /// The address where it does.
    const SOURCE: &'static CStr;

    /// What a session reads through, such as a read transaction; it sees all that was committed
    /// before it was made.
    type Reader: Send;
    /// The answer of a get, which keeps its bytes valid.
    type Value: AsRef<[u8]> + Send;

    /// Returns the promises with their source.  To be defined by an engine of which a flag
    /// weakens a promise.
    fn guarantees(_flags: &Flags) -> [Guarantee; 3] {
        Self::PROMISES.map(|promise| (promise, Self::SOURCE))
    }
    /// Returns the open database, and the settings in force: each [`reported`](crate::reported)
    /// by the engine or, if it cannot, as [`requested`](crate::requested).  Flags that are not
    /// among them are added, as requested.
    fn open(options: &Options) -> Result<(Self, Vec<Setting>)>;
    fn limits(&self) -> Limits {
        Limits::default()
    }
    /// Does nothing by default, for engines whose write hands its changes to the operating
    /// system before it returns.  The crash test of `ctest -L NAME` fails for any other.
    fn flush(&self) -> Result<()> {
        Ok(())
    }
    /// Does nothing by default, for engines that defer no work.
    fn settle(&self) -> Result<()> {
        Ok(())
    }
    fn compact(&mut self) -> Result<()> {
        Err(Error::Unsupported("does not compact on request".into()))
    }
    /// Counts of waiting and repeated calls.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
    /// Closes the database if closing can fail.
    fn close(self) -> Result<()> {
        Ok(())
    }

    /// Returns a reader for one get or scan or, with [`HOLD_READ_TXN`](crate::HOLD_READ_TXN), for
    /// all of a session until something is committed.
    ///
    /// It is dropped before the session's next call and before each call on the database, possibly
    /// on another thread, so that no idle session keeps the engine from its work.
    fn reader(&self) -> Result<Self::Reader>;
    fn get(&self, reader: &mut Self::Reader, key: &[u8]) -> Result<Option<Self::Value>>;
    fn scan(&self, reader: &mut Self::Reader, scan: &mut Scan) -> Result<()>;
    fn write(&self, batch: &[Update]) -> Result<()>;
}
