//! fjall: a log-structured merge tree.  github.com/fjall-rs/fjall

use fjall::config::CompressionPolicy;
use fjall::{AbstractTree, Database, Keyspace, KeyspaceCreateOptions, PersistMode, Slice};
use kvmatrix_driver::*;
use std::ffi::CStr;
use std::time::Duration;

const PERSIST: &CStr = c"https://docs.rs/fjall/3/fjall/enum.PersistMode.html";
const POLLS: usize = 20; // in a row that find no work, PAUSE apart
const PAUSE: Duration = Duration::from_millis(1);

struct Fjall {
    database: Database,
    entries: Keyspace,
    durable: bool,
    compression: bool,
    expect_hits: bool,
    write_buffer_size: u64,
}

impl Fjall {
    fn is_busy(&self) -> bool {
        self.entries.tree.active_memtable().size() > self.write_buffer_size
            || self.database.outstanding_flushes() > 0
            || self.entries.sealed_memtable_count() > 0
            || self.database.active_compactions() > 0
    }
}

impl Engine for Fjall {
    const NAME: &'static CStr = c"fjall";
    const CRATE: &'static str = "fjall";
    const LICENCE: &'static CStr = c"MIT OR Apache-2.0";
    const CODEC: &'static CStr = c"lz4";
    const FLAGS: &'static [abi::kvm_flag] = &[
        flag(c"write_buffer_size", c"uint64", c"67108864", c"size of the memtable, in bytes"),
        flag(c"worker_threads", c"uint64", c"0", c"background threads; 0: fjall's default"),
        flag(c"expect_point_read_hits", c"bool", c"false", c"no filters in the last level"),
    ];
    type Reader = ();
    type Value = Slice;

    fn guarantees(_: &Flags) -> [Guarantee; 3] {
        let newest = (Promise::LosesNewest, PERSIST);
        [newest, newest, (Promise::LosesNothing, PERSIST)]
    }

    fn open(options: &Options) -> Result<Self> {
        let mut builder = Database::builder(&options.path).cache_size(options.cache_size);
        let threads = options.flags.get(c"worker_threads");
        if threads > 0 {
            builder = builder.worker_threads(threads);
        }
        let write_buffer_size = options.flags.get(c"write_buffer_size");
        let expect_hits = options.flags.get(c"expect_point_read_hits");
        let database = builder.open()?;
        let entries = database.keyspace("entries", || {
            let keyspace = KeyspaceCreateOptions::default()
                .max_memtable_size(write_buffer_size)
                .expect_point_read_hits(expect_hits);
            match options.compression {
                true => keyspace,
                false => keyspace.data_block_compression_policy(CompressionPolicy::disabled()),
            }
        })?;
        let durable = options.durability == Durability::Durable;
        let compression = options.compression;
        Ok(Fjall { database, entries, durable, compression, expect_hits, write_buffer_size })
    }

    fn limits(&self) -> Limits {
        Limits { key_size: u16::MAX.into(), value_size: u32::MAX.into(), batch_size: 0 }
    }

    fn flush(&self) -> Result<()> {
        Ok(self.database.persist(PersistMode::Buffer)?)
    }

    fn settle(&self) -> Result<()> {
        let mut idle = 0;
        while idle < POLLS {
            self.flush()?; // fails if a background thread has
            idle = if self.is_busy() { 0 } else { idle + 1 };
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    fn compact(&mut self) -> Result<()> {
        self.entries.rotate_memtable_and_wait()?;
        Ok(self.entries.major_compact()?)
    }

    fn settings(&self) -> Vec<Setting> {
        vec![
            reported("cache_size", self.database.cache_capacity()),
            requested("compression", self.compression),
            requested("durable", self.durable),
            requested("expect_point_read_hits", self.expect_hits),
            requested("write_buffer_size", self.write_buffer_size),
        ]
    }

    fn write(&self, batch: &[Update]) -> Result<()> {
        if let ([update], false) = (batch, self.durable) {
            match update.value() {
                Some(value) => self.entries.insert(update.key(), value)?,
                None => self.entries.remove(update.key())?,
            }
            return Ok(());
        }
        let mode = if self.durable { PersistMode::SyncData } else { PersistMode::Buffer };
        let mut writes = self.database.batch().durability(Some(mode));
        for update in batch {
            match update.value() {
                Some(value) => writes.insert(&self.entries, update.key(), value),
                None => writes.remove(&self.entries, update.key()),
            }
        }
        Ok(writes.commit()?)
    }

    fn reader(&self) -> Result<()> {
        Ok(())
    }

    fn get(&self, _: &mut (), key: &[u8]) -> Result<Option<Slice>> {
        Ok(self.entries.get(key)?)
    }

    fn scan(&self, _: &mut (), scan: &mut Scan) -> Result<()> {
        let range = self.entries.range::<&[u8], _>(scan.range());
        scan.visit_range(range.map(|entry| entry.into_inner()))
    }
}

export!(Fjall);
