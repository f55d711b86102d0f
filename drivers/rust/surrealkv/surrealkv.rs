//! surrealkv: a log-structured merge tree with an asynchronous commit.  github.com/surrealdb/surrealkv

use kvmatrix_driver::*;
use surrealkv::{Durability as Level, LSMIterator, Mode, Transaction, Tree, TreeBuilder};
use tokio::runtime::{Builder, Runtime};

struct Surrealkv {
    runtime: Runtime,
    tree: Tree,
    level: Level,
}

impl Engine for Surrealkv {
    const NAME: &'static CStr = c"surrealkv";
    const LICENCE: &'static CStr = c"Apache-2.0";
    const CODEC: &'static CStr = c"snappy";
    const FLAGS: &'static [abi::kvm_flag] = &[
        HOLD_READ_TXN,
        flag(c"write_buffer_size", c"uint64", c"104857600", c"size of the memtable, in bytes"),
        flag(c"enable_vlog", c"bool", c"false", c"large values in files of their own"),
        flag(c"wal_preallocation", c"bool", c"false", c"zeros ahead of the log, for shorter syncs"),
    ];
    const PROMISES: [Promise; 3] = [LosesNewest, LosesNewest, LosesNothing];
    const SOURCE: &'static CStr = c"https://docs.rs/surrealkv/1/surrealkv/enum.Durability.html";
    type Reader = Transaction;
    type Value = Vec<u8>;

    fn open(options: &Options) -> Result<(Self, Vec<Setting>)> {
        let mut tree = surrealkv::Options::new()
            .with_path(options.path.clone())
            .with_block_cache_capacity(options.cache_size)
            .with_max_memtable_size(options.flags.get(c"write_buffer_size"))
            .with_enable_vlog(options.flags.get(c"enable_vlog"))
            .with_wal_preallocation(options.flags.get(c"wal_preallocation"));
        if options.compression {
            tree = tree.with_l0_no_compression();
        }
        let level = if options.is_durable() { Level::Immediate } else { Level::Eventual };
        let settings = vec![
            requested("cache_size", options.cache_size),
            reported("compression", format!("{:?}", tree.compression_per_level)),
            requested("durability", format!("{level:?}")),
        ];
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let tree = runtime.block_on(async { TreeBuilder::with_options(tree).build() })?;
        Ok((Surrealkv { runtime, tree, level }, settings))
    }

    fn settle(&self) -> Result<()> {
        let metrics = self.runtime.metrics();
        // Flushes and compactions run on the runtime's workers, and nothing else does.
        let works = |worker| metrics.worker_park_unpark_count(worker).is_multiple_of(2);
        wait_until_idle(|| match self.tree.background_error() {
            Some(failure) => Err(failure.error.into()),
            None => Ok((0..metrics.num_workers()).any(works)),
        })
    }

    fn compact(&mut self) -> Result<()> {
        let _entered = self.runtime.enter();
        Ok(self.tree.compact_range(None, None, &Default::default())?)
    }

    fn close(self) -> Result<()> {
        Ok(self.runtime.block_on(self.tree.close())?)
    }

    fn write(&self, batch: &[Update]) -> Result<()> {
        let mut transaction = self.tree.begin_with_mode(Mode::WriteOnly)?;
        transaction.set_durability(self.level);
        apply(batch, &mut transaction, Transaction::set, Transaction::delete)?;
        Ok(self.runtime.block_on(transaction.commit())?)
    }

    fn reader(&self) -> Result<Self::Reader> {
        Ok(self.tree.begin_with_mode(Mode::ReadOnly)?)
    }

    fn get(&self, reader: &mut Self::Reader, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(reader.get(key)?)
    }

    fn scan(&self, reader: &mut Self::Reader, scan: &mut Scan) -> Result<()> {
        let (low, high) = scan.bounds();
        let mut keys = surrealkv::ReadOptions::new();
        keys.set_iterate_lower_bound(low.map(Vec::from));
        // Exclusive: the first key behind the highest.
        keys.set_iterate_upper_bound(high.map(|key| [key, b"\0"].concat()));
        let mut cursor = reader.range_with_options(&keys)?;
        let forward = scan.order == Order::Forward;
        let mut valid = if forward { cursor.seek_first()? } else { cursor.seek_last()? };
        while valid && scan.visit(cursor.key().user_key(), &cursor.value_ref()?) {
            valid = if forward { cursor.next()? } else { cursor.prev()? };
        }
        Ok(())
    }
}

export!(Surrealkv);
