//! fjall: a log-structured merge tree.  github.com/fjall-rs/fjall

use fjall::config::CompressionPolicy;
use fjall::{AbstractTree, Database, Keyspace, KeyspaceCreateOptions, PersistMode, Slice};
use kvmatrix_driver::*;

struct Fjall {
    database: Database,
    entries: Keyspace,
    mode: PersistMode,
    write_buffer_size: u64,
}

impl Engine for Fjall {
    const NAME: &'static CStr = c"fjall";
    const LICENCE: &'static CStr = c"MIT OR Apache-2.0";
    const CODEC: &'static CStr = c"lz4";
    const FLAGS: &'static [abi::kvm_flag] = &[
        flag(c"write_buffer_size", c"uint64", c"67108864", c"size of the memtable, in bytes"),
        flag(c"worker_threads", c"uint64", c"0", c"background threads; 0: fjall's default"),
        flag(c"expect_point_read_hits", c"bool", c"false", c"no filters in the last level"),
    ];
    const PROMISES: [Promise; 3] = [LosesNewest, LosesNewest, LosesNothing];
    const SOURCE: &'static CStr = c"https://docs.rs/fjall/3/fjall/enum.PersistMode.html";
    no_reader!();
    type Value = Slice;

    fn open(options: &Options) -> Result<(Self, Vec<Setting>)> {
        let builder = Database::builder(&options.path).cache_size(options.cache_size);
        let database = match options.flags.get(c"worker_threads") {
            0 => builder.open()?,
            threads => builder.worker_threads(threads).open()?,
        };
        let write_buffer_size = options.flags.get(c"write_buffer_size");
        let mut keyspace = KeyspaceCreateOptions::default()
            .max_memtable_size(write_buffer_size)
            .expect_point_read_hits(options.flags.get(c"expect_point_read_hits"));
        if !options.compression {
            keyspace = keyspace.data_block_compression_policy(CompressionPolicy::disabled());
        }
        let entries = database.keyspace("entries", || keyspace)?;
        let durable = options.is_durable();
        let settings = vec![
            reported("cache_size", database.cache_capacity()),
            requested("compression", options.compression),
            requested("durable", durable),
        ];
        let mode = if durable { PersistMode::SyncData } else { PersistMode::Buffer };
        Ok((Fjall { database, entries, mode, write_buffer_size }, settings))
    }

    fn limits(&self) -> Limits {
        Limits { key_size: u16::MAX.into(), value_size: u32::MAX.into(), batch_size: 0 }
    }

    fn settle(&self) -> Result<()> {
        wait_until_idle(|| {
            self.database.persist(PersistMode::Buffer)?; // fails if a background thread has
            Ok(self.entries.tree.active_memtable().size() > self.write_buffer_size
                || self.database.outstanding_flushes() > 0
                || self.entries.sealed_memtable_count() > 0
                || self.database.active_compactions() > 0)
        })
    }

    fn compact(&mut self) -> Result<()> {
        self.entries.rotate_memtable_and_wait()?;
        Ok(self.entries.major_compact()?)
    }

    fn write(&self, batch: &[Update]) -> Result<()> {
        if let ([update], PersistMode::Buffer) = (batch, self.mode) {
            match update.value() {
                Some(value) => self.entries.insert(update.key(), value)?,
                None => self.entries.remove(update.key())?,
            }
            return Ok(());
        }
        let mut writes = self.database.batch().durability(Some(self.mode));
        for update in batch {
            match update.value() {
                Some(value) => writes.insert(&self.entries, update.key(), value),
                None => writes.remove(&self.entries, update.key()),
            }
        }
        Ok(writes.commit()?)
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
