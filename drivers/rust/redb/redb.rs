//! redb: a B+ tree, copied on write.  github.com/cberner/redb

use kvmatrix_driver::*;
use redb::{AccessGuard, Builder, Database, ReadOnlyTable, ReadableDatabase, TableDefinition};

type Bytes = &'static [u8];
const TABLE: TableDefinition<Bytes, Bytes> = TableDefinition::new("entries");

struct Redb {
    database: Database,
    durability: redb::Durability,
}

/// Keeps the page of a key or value.
struct Found(AccessGuard<'static, Bytes>);
impl AsRef<[u8]> for Found {
    fn as_ref(&self) -> &[u8] {
        self.0.value()
    }
}

impl Engine for Redb {
    const NAME: &'static CStr = c"redb";
    const LICENCE: &'static CStr = c"MIT OR Apache-2.0";
    const FLAGS: &'static [abi::kvm_flag] = &[HOLD_READ_TXN];
    const PROMISES: [Promise; 3] = [LosesNewest, LosesNewest, LosesNothing];
    const SOURCE: &'static CStr = c"https://docs.rs/redb/4/redb/enum.Durability.html";
    type Reader = ReadOnlyTable<Bytes, Bytes>;
    type Value = Found;

    fn open(options: &Options) -> Result<(Self, Vec<Setting>)> {
        let durability = match options.durability {
            Durability::Durable => redb::Durability::Immediate,
            _ => redb::Durability::None,
        };
        let database = Builder::new()
            .set_cache_size(options.cache_size as usize)
            .create(options.path.join("entries.redb"))?;
        let create = database.begin_write()?;
        create.open_table(TABLE)?;
        create.commit()?;
        let settings = vec![
            requested("cache_size", options.cache_size),
            requested("durability", format!("{durability:?}")),
        ];
        Ok((Redb { database, durability }, settings))
    }

    fn flush(&self) -> Result<()> {
        Ok(self.database.begin_write()?.commit()?) // Durability::Immediate, the default
    }

    fn compact(&mut self) -> Result<()> {
        self.database.compact()?;
        Ok(())
    }

    fn close(self) -> Result<()> {
        Ok(self.database.close()?)
    }

    fn write(&self, batch: &[Update]) -> Result<()> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(self.durability)?;
        let mut table = transaction.open_table(TABLE)?;
        for update in batch {
            match update.value() {
                Some(value) => table.insert(update.key(), value)?,
                None => table.remove(update.key())?,
            };
        }
        drop(table);
        Ok(transaction.commit()?)
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
