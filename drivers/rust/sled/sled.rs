//! sled: a Bw-tree over a log.  github.com/spacejam/sled

use kvmatrix_driver::*;
use sled::{Batch, Config, Db, IVec, Mode};
use std::fs::File;
use std::path::PathBuf;

const LEAST_CACHE: u64 = 256; // or it panics
const FLUSH: &CStr = c"https://docs.rs/sled/0.34/sled/struct.Tree.html#method.flush";

struct Sled {
    database: Db,
    file: PathBuf,
    flushes: bool, // after each write
}

impl Engine for Sled {
    const NAME: &'static CStr = c"sled";
    const LICENCE: &'static CStr = c"MIT OR Apache-2.0";
    const PROPERTIES: u32 = abi::KVM_KEEPS_THREADS; // a pool of the process
    const FLAGS: &'static [abi::kvm_flag] = &[
        flag(c"flush_every_ms", c"uint64", c"500", c"interval of background flushes; 0: none"),
        flag(c"high_throughput", c"bool", c"false", c"Mode::HighThroughput, not LowSpace"),
        flag(c"flush_each_write", c"bool", c"false", c"offer durable: a flush() after each"),
    ];
    const PROMISES: [Promise; 3] = [LosesNewest, LosesNewest, NotOffered];
    const SOURCE: &'static CStr =
        c"https://docs.rs/sled/0.34/sled/struct.Config.html#method.flush_every_ms";
    no_reader!();
    type Value = IVec;

    fn guarantees(flags: &Flags) -> [Guarantee; 3] {
        let mut guarantees = Self::PROMISES.map(|promise| (promise, Self::SOURCE));
        // Not by default: flush() calls sync_file_range(), which makes nothing durable,
        // although it is documented to: spacejam/sled#1452.
        if flags.get(c"flush_each_write") {
            guarantees[2] = (LosesNothing, FLUSH);
        }
        guarantees
    }

    fn open(options: &Options) -> Result<(Self, Vec<Setting>)> {
        let interval = options.flags.get(c"flush_every_ms");
        let fast = options.flags.get(c"high_throughput");
        let config = Config::new()
            .path(&options.path)
            .cache_capacity(options.cache_size.max(LEAST_CACHE))
            .flush_every_ms((interval > 0).then_some(interval))
            .mode(if fast { Mode::HighThroughput } else { Mode::LowSpace });
        let settings = vec![
            reported("cache_size", config.cache_capacity),
            reported("compression", config.use_compression),
            reported("flush_every_ms", format!("{:?}", config.flush_every_ms)),
            reported("mode", format!("{:?}", config.mode)),
            reported("segment_size", config.segment_size),
        ];
        let (database, file) = (config.open()?, options.path.join("db"));
        Ok((Sled { database, file, flushes: options.is_durable() }, settings))
    }

    fn flush(&self) -> Result<()> {
        self.database.flush()?;
        Ok(())
    }

    /// Jobs in sled's pool may hold the file, with its lock, after the database is dropped.
    fn close(self) -> Result<()> {
        drop(self.database);
        let file = File::open(&self.file)?;
        wait_until(|| file.try_lock().is_ok(), "its threads still use the file")
    }

    fn write(&self, batch: &[Update]) -> Result<()> {
        if let [update] = batch {
            match update.value() {
                Some(value) => self.database.insert(update.key(), value)?,
                None => self.database.remove(update.key())?,
            };
        } else {
            let mut writes = Batch::default();
            for update in batch {
                match update.value() {
                    Some(value) => writes.insert(update.key(), value),
                    None => writes.remove(update.key()),
                }
            }
            self.database.apply_batch(writes)?;
        }
        if self.flushes { self.flush() } else { Ok(()) }
    }

    fn get(&self, _: &mut (), key: &[u8]) -> Result<Option<IVec>> {
        Ok(self.database.get(key)?)
    }

    fn scan(&self, _: &mut (), scan: &mut Scan) -> Result<()> {
        let range = self.database.range::<&[u8], _>(scan.range());
        scan.visit_range(range)
    }
}

export!(Sled);
