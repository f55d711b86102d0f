//! canopydb: a B+ tree with a write-ahead log.  github.com/arthurprs/canopydb

use canopydb::{Bytes, Database, DbOptions, EnvOptions, ReadTransaction, Tree, TreeOptions};
use kvmatrix_driver::*;

const TREE: &[u8] = b"entries";
const CHECKPOINT: &CStr = c"committed changes after which a checkpoint starts, in bytes";

struct Canopydb {
    database: Database,
}

fn tree(transaction: &ReadTransaction) -> Result<Tree<'_>> {
    Ok(transaction.get_tree(TREE)?.expect("open() creates it"))
}

impl Engine for Canopydb {
    const NAME: &'static CStr = c"canopydb";
    const LICENCE: &'static CStr = c"MIT";
    const FLAGS: &'static [abi::kvm_flag] = &[
        HOLD_READ_TXN,
        flag(c"checkpoint_target_size", c"uint64", c"67108864", CHECKPOINT),
        flag(c"wal_new_file_on_checkpoint", c"bool", c"true", c"a checkpoint begins a new log"),
    ];
    const PROMISES: [Promise; 3] = [LosesNewest, LosesNewest, LosesNothing];
    const SOURCE: &'static CStr =
        c"https://docs.rs/canopydb/0.2/canopydb/struct.DbOptions.html#structfield.use_wal";
    type Reader = ReadTransaction;
    type Value = Bytes;

    fn open(options: &Options) -> Result<(Self, Vec<Setting>)> {
        let mut environment = EnvOptions::new(&options.path);
        environment.page_cache_size = options.cache_size as usize;
        environment.wal_new_file_on_checkpoint = options.flags.get(c"wal_new_file_on_checkpoint");
        let mut database = DbOptions::new();
        database.checkpoint_target_size = options.flags.get(c"checkpoint_target_size");
        database.default_commit_sync = options.is_durable();
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
        let database = Database::with_options(environment, database)?;
        let create = database.begin_write()?;
        create.get_or_create_tree_with(TREE, tree)?;
        create.commit()?;
        Ok((Canopydb { database }, settings))
    }

    fn limits(&self) -> Limits {
        Limits { key_size: 1 << 30, ..Limits::default() }
    }

    fn settle(&self) -> Result<()> {
        Ok(self.database.checkpoint()?)
    }

    fn compact(&mut self) -> Result<()> {
        Ok(self.database.compact()?)
    }

    fn write(&self, batch: &[Update]) -> Result<()> {
        let transaction = self.database.begin_write()?;
        let mut tree = transaction.get_or_create_tree(TREE)?;
        apply(batch, &mut tree, Tree::insert, Tree::delete)?;
        drop(tree);
        transaction.commit()?; // and synchronise, if default_commit_sync
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
