//! redb: a B+ tree, copied on write.  github.com/cberner/redb

use kvmatrix_driver::*;
use redb::{
    AccessGuard, Builder, Database, ReadOnlyTable, ReadableDatabase, TableDefinition,
    WriteTransaction,
};
use std::ffi::CStr;

type Bytes = &'static [u8];
const TABLE: TableDefinition<Bytes, Bytes> = TableDefinition::new("entries");
const DURABILITY: &CStr = c"https://docs.rs/redb/4/redb/enum.Durability.html";

struct Redb {
    database: Database,
    durability: redb::Durability,
    cache_size: u64,
}

/// Keeps the page of a key or value.
struct Found(AccessGuard<'static, Bytes>);
impl AsRef<[u8]> for Found {
    fn as_ref(&self) -> &[u8] {
        self.0.value()
    }
}

impl Redb {
    fn begin(&self, durability: redb::Durability) -> Result<WriteTransaction> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(durability)?;
        Ok(transaction)
    }
}

impl Engine for Redb {
    const NAME: &'static CStr = c"redb";
    const CRATE: &'static str = "redb";
    const LICENCE: &'static CStr = c"MIT OR Apache-2.0";
    const FLAGS: &[abi::kvm_flag] = &[HOLD_READ_TXN];

    type Reader = ReadOnlyTable<Bytes, Bytes>;
    type Value = Found;

    fn guarantees(_: &Flags) -> [Guarantee; 3] {
        let newest = (Promise::LosesNewest, DURABILITY);
        [newest, newest, (Promise::LosesNothing, DURABILITY)]
    }

    fn open(options: &Options) -> Result<Self> {
        let cache_size = options.cache_size;
        let redb = Redb {
            database: Builder::new()
                .set_cache_size(cache_size as usize)
                .create(options.path.join("entries.redb"))?,
            durability: match options.durability {
                Durability::Durable => redb::Durability::Immediate,
                _ => redb::Durability::None,
            },
            cache_size,
        };
        let create = redb.begin(redb::Durability::Immediate)?;
        create.open_table(TABLE)?;
        create.commit()?;
        Ok(redb)
    }

    fn flush(&self) -> Result<()> {
        Ok(self.begin(redb::Durability::Immediate)?.commit()?)
    }

    fn compact(&mut self) -> Result<()> {
        self.database.compact()?;
        Ok(())
    }

    fn settings(&self) -> Vec<Setting> {
        vec![
            requested("cache_size", self.cache_size),
            requested("durability", format!("{:?}", self.durability)),
        ]
    }

    fn close(self) -> Result<()> {
        Ok(self.database.close()?)
    }

    fn write(&self, batch: &[Update]) -> Result<()> {
        let transaction = self.begin(self.durability)?;
        let mut table = transaction.open_table(TABLE)?;
        for update in batch {
            match update.value() {
                Some(value) => table.insert(update.key(), value)?,
                None => table.remove(update.key())?,
            };
        }
        drop(table);
        transaction.commit()?;
        Ok(())
    }

    fn reader(&self) -> Result<Self::Reader> {
        Ok(self.database.begin_read()?.open_table(TABLE)?)
    }

    fn get(&self, reader: &mut Self::Reader, key: &[u8]) -> Result<Option<Found>> {
        Ok(reader.get(key)?.map(Found))
    }

    fn scan(&self, reader: &mut Self::Reader, scan: &mut Scan) -> Result<()> {
        let range = reader.range::<&[u8]>(scan.range())?;
        scan.visit_range(range.map(|entry| entry.map(|(key, value)| (Found(key), Found(value)))))
    }
}

export!(Redb);
