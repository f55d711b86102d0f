//! canopydb: a B+ tree with a write-ahead log.  github.com/arthurprs/canopydb

use canopydb::{Bytes, Database, DbOptions, EnvOptions, ReadTransaction, Tree, TreeOptions};
use kvmatrix_driver::*;
use std::ffi::CStr;

const TREE: &[u8] = b"entries";
const SYNC: &CStr =
    c"https://docs.rs/canopydb/0.2/canopydb/struct.DbOptions.html#structfield.use_wal";

const CHECKPOINT: &CStr = c"committed changes after which a checkpoint starts, in bytes";

struct Canopydb {
    database: Database,
    durable: bool,
    settings: Vec<Setting>,
}

fn tree(transaction: &ReadTransaction) -> Result<Tree<'_>> {
    Ok(transaction.get_tree(TREE)?.expect("open() creates it"))
}

impl Engine for Canopydb {
    const NAME: &'static CStr = c"canopydb";
    const CRATE: &'static str = "canopydb";
    const LICENCE: &'static CStr = c"MIT";
    const FLAGS: &'static [abi::kvm_flag] = &[
        HOLD_READ_TXN,
        flag(c"checkpoint_target_size", c"uint64", c"67108864", CHECKPOINT),
        flag(c"wal_new_file_on_checkpoint", c"bool", c"true", c"a checkpoint begins a new log"),
    ];
    type Reader = ReadTransaction;
    type Value = Bytes;

    fn guarantees(_: &Flags) -> [Guarantee; 3] {
        let newest = (Promise::LosesNewest, SYNC);
        [newest, newest, (Promise::LosesNothing, SYNC)]
    }

    fn open(options: &Options) -> Result<Self> {
        let durable = options.durability == Durability::Durable;
        let mut environment = EnvOptions::new(&options.path);
        environment.page_cache_size = options.cache_size as usize;
        environment.wal_new_file_on_checkpoint = options.flags.get(c"wal_new_file_on_checkpoint");
        let mut database = DbOptions::new();
        database.checkpoint_target_size = options.flags.get(c"checkpoint_target_size");
        database.default_commit_sync = durable;
        let mut tree = TreeOptions::new();
        if !options.compression {
            tree.compress_overflow_values = None;
        }
        let settings = vec![
            reported("cache_size", environment.page_cache_size),
            reported("checkpoint_target_size", database.checkpoint_target_size),
            reported("compress_overflow_values", format!("{:?}", tree.compress_overflow_values)),
            reported("default_commit_sync", database.default_commit_sync),
            reported("wal_new_file_on_checkpoint", environment.wal_new_file_on_checkpoint),
        ];
        let canopydb = Canopydb {
            database: Database::with_options(environment, database)?,
            durable,
            settings,
        };
        let create = canopydb.database.begin_write()?;
        create.get_or_create_tree_with(TREE, tree)?;
        create.commit()?;
        Ok(canopydb)
    }

    fn limits(&self) -> Limits {
        Limits { key_size: 1 << 30, ..Limits::default() }
    }

    fn flush(&self) -> Result<()> {
        Ok(()) // a commit hands its changes to the system
    }

    fn settle(&self) -> Result<()> {
        Ok(self.database.checkpoint()?)
    }

    fn compact(&mut self) -> Result<()> {
        Ok(self.database.compact()?)
    }

    fn settings(&self) -> Vec<Setting> {
        self.settings.clone()
    }

    fn write(&self, batch: &[Update]) -> Result<()> {
        let transaction = self.database.begin_write()?;
        let mut tree = transaction.get_or_create_tree(TREE)?;
        for update in batch {
            match update.value() {
                Some(value) => tree.insert(update.key(), value)?,
                None => drop(tree.delete(update.key())?),
            }
        }
        drop(tree);
        transaction.commit_with(self.durable)?;
        Ok(())
    }

    fn reader(&self) -> Result<Self::Reader> {
        Ok(self.database.begin_read()?)
    }

    fn get(&self, reader: &mut Self::Reader, key: &[u8]) -> Result<Option<Bytes>> {
        Ok(tree(reader)?.get(key)?)
    }

    fn scan(&self, reader: &mut Self::Reader, scan: &mut Scan) -> Result<()> {
        let tree = tree(reader)?;
        let range = tree.range::<&[u8]>(scan.range())?;
        scan.visit_range(range)
    }
}

export!(Canopydb);
