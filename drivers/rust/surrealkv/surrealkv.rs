//! surrealkv: a log-structured merge tree with an asynchronous commit.  github.com/surrealdb/surrealkv

use kvmatrix_driver::*;
use std::ffi::CStr;
use std::time::Duration;
use surrealkv::{
    CompactRangeOptions, LSMIterator, Mode, Options as TreeOptions, ReadOptions, Transaction, Tree,
    TreeBuilder,
};
use tokio::runtime::{Builder, Runtime};

const DURABILITY: &CStr = c"https://docs.rs/surrealkv/1/surrealkv/enum.Durability.html";
const PREALLOCATION: &CStr = c"write zeros ahead of the log's end, so that syncs are of data alone";
const POLLS: usize = 20; // in a row that find no work, PAUSE apart
const PAUSE: Duration = Duration::from_millis(1);

struct Surrealkv {
    runtime: Runtime,
    tree: Tree,
    durability: surrealkv::Durability,
    settings: Vec<Setting>,
}

impl Surrealkv {
    /// Flushes and compactions run on the runtime's workers, and nothing else does.
    fn is_busy(&self) -> bool {
        let metrics = self.runtime.metrics();
        (0..metrics.num_workers())
            .any(|worker| metrics.worker_park_unpark_count(worker).is_multiple_of(2))
    }
}

impl Engine for Surrealkv {
    const NAME: &'static CStr = c"surrealkv";
    const CRATE: &'static str = "surrealkv";
    const LICENCE: &'static CStr = c"Apache-2.0";
    const CODEC: &'static CStr = c"snappy";
    const FLAGS: &'static [abi::kvm_flag] = &[
        HOLD_READ_TXN,
        flag(c"write_buffer_size", c"uint64", c"104857600", c"size of the memtable, in bytes"),
        flag(c"enable_vlog", c"bool", c"false", c"large values in files of their own"),
        flag(c"wal_preallocation", c"bool", c"false", PREALLOCATION),
    ];
    type Reader = Transaction;
    type Value = Vec<u8>;

    fn guarantees(_: &Flags) -> [Guarantee; 3] {
        let newest = (Promise::LosesNewest, DURABILITY);
        [newest, newest, (Promise::LosesNothing, DURABILITY)]
    }

    fn open(options: &Options) -> Result<Self> {
        let memtable = options.flags.get(c"write_buffer_size");
        let preallocates: bool = options.flags.get(c"wal_preallocation");
        let mut tree = TreeOptions::new()
            .with_path(options.path.clone())
            .with_block_cache_capacity(options.cache_size)
            .with_max_memtable_size(memtable)
            .with_enable_vlog(options.flags.get(c"enable_vlog"))
            .with_wal_preallocation(preallocates);
        if options.compression {
            tree = tree.with_l0_no_compression();
        }
        let durability = match options.durability {
            Durability::Durable => surrealkv::Durability::Immediate,
            _ => surrealkv::Durability::Eventual,
        };
        let settings = vec![
            requested("durability", format!("{durability:?}")),
            requested("cache_size", options.cache_size),
            reported("compression", format!("{:?}", tree.compression_per_level)),
            reported("enable_vlog", tree.enable_vlog),
            requested("wal_preallocation", preallocates),
            reported("write_buffer_size", tree.max_memtable_size),
        ];
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let entered = runtime.enter();
        let tree = TreeBuilder::with_options(tree).build()?;
        drop(entered);
        Ok(Surrealkv { runtime, tree, durability, settings })
    }

    fn flush(&self) -> Result<()> {
        Ok(self.tree.flush_wal(false)?)
    }

    fn settle(&self) -> Result<()> {
        let mut idle = 0;
        while idle < POLLS {
            if let Some(failure) = self.tree.background_error() {
                return Err(failure.error.into());
            }
            idle = if self.is_busy() { 0 } else { idle + 1 };
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    fn compact(&mut self) -> Result<()> {
        let _entered = self.runtime.enter();
        Ok(self.tree.compact_range(None, None, &CompactRangeOptions::default())?)
    }

    fn settings(&self) -> Vec<Setting> {
        self.settings.clone()
    }

    fn close(self) -> Result<()> {
        Ok(self.runtime.block_on(self.tree.close())?)
    }

    fn write(&self, batch: &[Update]) -> Result<()> {
        let mut transaction = self.tree.begin_with_mode(Mode::WriteOnly)?;
        transaction.set_durability(self.durability);
        for update in batch {
            match update.value() {
                Some(value) => transaction.set(update.key(), value)?,
                None => transaction.delete(update.key())?,
            }
        }
        Ok(self.runtime.block_on(transaction.commit())?)
    }

    fn reader(&self) -> Result<Self::Reader> {
        Ok(self.tree.begin_with_mode(Mode::ReadOnly)?)
    }

    fn get(&self, reader: &mut Self::Reader, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(reader.get(key)?)
    }

    fn scan(&self, reader: &mut Self::Reader, scan: &mut Scan) -> Result<()> {
        let mut bounds = ReadOptions::new();
        let forward = scan.order == Order::Forward;
        if forward && !scan.start.is_empty() {
            bounds.set_iterate_lower_bound(Some(scan.start.into()));
        } else if !scan.start.is_empty() {
            // Exclusive: the first key behind the start.
            bounds.set_iterate_upper_bound(Some([scan.start, b"\0"].concat()));
        }
        let mut cursor = reader.range_with_options(&bounds)?;
        let mut valid = if forward { cursor.seek_first()? } else { cursor.seek_last()? };
        while valid && scan.visit(cursor.key().user_key(), &cursor.value_ref()?) {
            valid = if forward { cursor.next()? } else { cursor.prev()? };
        }
        Ok(())
    }
}

export!(Surrealkv);
