//! heed: LMDB with an interface in Rust.  github.com/meilisearch/heed

use heed::types::Bytes;
use heed::{Database, Env, EnvFlags, EnvOpenOptions, MdbError, PutFlags, RoTxn, RwTxn, WithoutTls};
use kvmatrix_driver::*;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

struct Heed {
    environment: Env<WithoutTls>,
    entries: Database<Bytes, Bytes>,
    appends: AtomicBool, // until a key does not ascend
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
    const LICENCE: &'static CStr = c"MIT AND OLDAP-2.8";
    const FLAGS: &'static [abi::kvm_flag] = &[
        HOLD_READ_TXN,
        flag(c"map_size", c"uint64", c"68719476736", c"maximum size of the database, in bytes"),
        flag(c"writemap", c"bool", c"false", c"write through the memory map (MDB_WRITEMAP)"),
        flag(c"append", c"bool", c"false", c"add keys at the end while they ascend (MDB_APPEND)"),
    ];
    const PROMISES: [Promise; 3] = [MayBeCorrupt, LosesNewest, LosesNothing];
    const SOURCE: &'static CStr = c"https://docs.rs/heed/0.22/heed/struct.EnvFlags.html";
    type Reader = RoTxn<'static, WithoutTls>;
    type Value = View;

    fn open(options: &Options) -> Result<(Self, Vec<Setting>)> {
        let mut flags = match options.durability {
            Durability::Buffered => EnvFlags::NO_SYNC,
            Durability::Consistent => EnvFlags::NO_META_SYNC,
            Durability::Durable => EnvFlags::empty(),
        };
        flags.set(EnvFlags::WRITE_MAP, options.flags.get(c"writemap"));
        let mut open = EnvOpenOptions::new().read_txn_without_tls();
        open.map_size(options.flags.get(c"map_size"));
        open.max_readers(options.threads.max(125) as u32 + 1);
        // SAFETY: only the harness uses the directory, and it opens it once.
        let environment = unsafe { open.flags(flags).open(&options.path)? };
        let mut create = environment.write_txn()?;
        let entries = environment.create_database(&mut create, None)?;
        create.commit()?;
        let appends = AtomicBool::new(options.flags.get(c"append"));
        let version = heed::lmdb_version();
        let settings = vec![
            reported("cache_size", "none: the page cache"),
            reported("flags", format!("{:?}", environment.flags())),
            reported("lmdb", format!("{}.{}.{}", version.major, version.minor, version.patch)),
            reported("map_size", environment.info().map_size),
        ];
        Ok((Heed { environment, entries, appends }, settings))
    }

    fn limits(&self) -> Limits {
        Limits { key_size: self.environment.max_key_size() as u64, ..Limits::default() }
    }

    fn write(&self, batch: &[Update]) -> Result<()> {
        let mut transaction = self.environment.write_txn()?;
        let put = |transaction: &mut _, key, value| self.put(transaction, key, value);
        let delete = |transaction: &mut _, key| self.entries.delete(transaction, key);
        apply(batch, &mut transaction, put, delete)?;
        Ok(transaction.commit()?)
    }

    fn reader(&self) -> Result<Self::Reader> {
        Ok(self.environment.clone().static_read_txn()?)
    }

    fn get(&self, reader: &mut Self::Reader, key: &[u8]) -> Result<Option<View>> {
        // SAFETY: the value is dropped before the reader.
        Ok(self.entries.get(reader, key)?.map(|value| unsafe { View::new(value) }))
    }

    fn scan(&self, reader: &mut Self::Reader, scan: &mut Scan) -> Result<()> {
        match scan.order {
            Order::Forward => scan.visit_each(self.entries.range(reader, &scan.range())?),
            Order::Backward => scan.visit_each(self.entries.rev_range(reader, &scan.range())?),
        }
    }
}

export!(Heed);
