//! heed: LMDB with an interface in Rust.  github.com/meilisearch/heed

use heed::types::Bytes;
use heed::{Database, Env, EnvFlags, EnvOpenOptions, MdbError, PutFlags, RoTxn, RwTxn, WithoutTls};
use kvmatrix_driver::*;
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

const FLAGS: &CStr = c"https://docs.rs/heed/0.22/heed/struct.EnvFlags.html";

struct Heed {
    environment: Env<WithoutTls>,
    entries: Database<Bytes, Bytes>,
    append: bool,
    /// Whether all keys have ascended so far.
    appends: AtomicBool,
}

impl Heed {
    /// LMDB refuses to append a key that does not ascend, before it has changed anything.
    fn put(&self, transaction: &mut RwTxn, key: &[u8], value: &[u8]) -> heed::Result<()> {
        if self.appends.load(Relaxed) {
            match self.entries.put_with_flags(transaction, PutFlags::APPEND, key, value) {
                Err(heed::Error::Mdb(MdbError::KeyExist)) => self.appends.store(false, Relaxed),
                result => return result,
            }
        }
        self.entries.put(transaction, key, value)
    }
}

impl Engine for Heed {
    const NAME: &'static CStr = c"heed";
    const CRATE: &'static str = "heed";
    const LICENCE: &'static CStr = c"MIT AND OLDAP-2.8";
    const FLAGS: &'static [abi::kvm_flag] = &[
        HOLD_READ_TXN,
        flag(c"map_size", c"uint64", c"68719476736", c"maximum size of the database, in bytes"),
        flag(c"writemap", c"bool", c"false", c"write through the memory map (MDB_WRITEMAP)"),
        flag(c"append", c"bool", c"false", c"add keys at the end while they ascend (MDB_APPEND)"),
    ];
    const BLOCKS: bool = false; // a value is only valid with its transaction
    type Reader = RoTxn<'static, WithoutTls>;
    type Value = View;

    fn guarantees(_: &Flags) -> [Guarantee; 3] {
        [
            (Promise::MayBeCorrupt, FLAGS),
            (Promise::LosesNewest, FLAGS),
            (Promise::LosesNothing, FLAGS),
        ]
    }

    fn open(options: &Options) -> Result<Self> {
        let mut flags = match options.durability {
            Durability::Buffered => EnvFlags::NO_SYNC,
            Durability::Consistent => EnvFlags::NO_META_SYNC,
            Durability::Durable => EnvFlags::empty(),
        };
        flags.set(EnvFlags::WRITE_MAP, options.flags.get(c"writemap"));
        let append = options.flags.get(c"append");
        let mut open = EnvOpenOptions::new().read_txn_without_tls();
        open.map_size(options.flags.get(c"map_size"));
        open.max_readers(options.threads.max(125) as u32 + 1);
        // SAFETY: only the harness uses the directory, and it opens it once.
        let environment = unsafe { open.flags(flags).open(&options.path)? };
        let mut create = environment.write_txn()?;
        let entries = environment.create_database(&mut create, None)?;
        create.commit()?;
        Ok(Heed { environment, entries, append, appends: AtomicBool::new(append) })
    }

    fn limits(&self) -> Limits {
        let key_size = self.environment.max_key_size() as u64;
        Limits { key_size, ..Limits::default() }
    }

    fn flush(&self) -> Result<()> {
        Ok(()) // a commit hands its changes to the system
    }

    fn settings(&self) -> Vec<Setting> {
        let version = heed::lmdb_version();
        vec![
            requested("append", self.append),
            reported("cache_size", "none: the page cache"),
            reported("flags", format!("{:?}", self.environment.flags())),
            reported("lmdb", format!("{}.{}.{}", version.major, version.minor, version.patch)),
            reported("map_size", self.environment.info().map_size),
        ]
    }

    fn write(&self, batch: &[Update]) -> Result<()> {
        let mut transaction = self.environment.write_txn()?;
        for update in batch {
            match update.value() {
                Some(value) => self.put(&mut transaction, update.key(), value)?,
                None => drop(self.entries.delete(&mut transaction, update.key())?),
            }
        }
        transaction.commit()?;
        Ok(())
    }

    fn reader(&self) -> Result<Self::Reader> {
        Ok(self.environment.clone().static_read_txn()?)
    }

    fn get(&self, reader: &mut Self::Reader, key: &[u8]) -> Result<Option<View>> {
        let value = self.entries.get(reader, key)?;
        // SAFETY: the value is dropped before the reader.
        Ok(value.map(|value| unsafe { View::new(value) }))
    }

    fn scan(&self, reader: &mut Self::Reader, scan: &mut Scan) -> Result<()> {
        let range = (scan.range().0, scan.range().1);
        match scan.order {
            Order::Forward => scan.visit_each(self.entries.range(reader, &range)?),
            Order::Backward => scan.visit_each(self.entries.rev_range(reader, &range)?),
        }
    }
}

export!(Heed);
