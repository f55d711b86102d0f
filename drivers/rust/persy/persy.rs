//! persy: an index of copied-on-write pages.  gitlab.com/persy/persy

use kvmatrix_driver::*;
use persy::{ByteVec, Config, OpenOptions, Persy, Snapshot, ValueMode};
use std::convert::Infallible;

const INDEX: &str = "entries";
const LARGEST: u64 = 512 << 10;

struct PersyIndex {
    persy: Persy,
}

/// Keeps a part of a page.
struct Found(ByteVec);
impl AsRef<[u8]> for Found {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Engine for PersyIndex {
    const NAME: &'static CStr = c"persy";
    const LICENCE: &'static CStr = c"MPL-2.0";
    const FLAGS: &'static [abi::kvm_flag] = &[HOLD_READ_TXN];
    const PROMISES: [Promise; 3] = [LosesNothing; 3];
    const SOURCE: &'static CStr = c"https://docs.rs/persy/1.8/persy/";
    type Reader = Snapshot;
    type Value = Found;

    fn open(options: &Options) -> Result<(Self, Vec<Setting>)> {
        let mut config = Config::new();
        config.change_cache_size(options.cache_size);
        let settings = vec![reported("cache_size", config.cache_size())];
        let persy = OpenOptions::new()
            .create(true)
            .config(config)
            .open(options.path.join("entries.persy"))?;
        if !persy.exists_index(INDEX)? {
            let mut create = persy.begin()?;
            create.create_index::<ByteVec, ByteVec>(INDEX, ValueMode::Replace)?;
            create.prepare()?.commit()?;
        }
        Ok((PersyIndex { persy }, settings))
    }

    fn limits(&self) -> Limits {
        Limits { key_size: LARGEST, value_size: LARGEST, batch_size: 0 }
    }

    fn write(&self, batch: &[Update]) -> Result<()> {
        let mut transaction = self.persy.begin()?;
        for update in batch {
            let key = ByteVec::from(update.key());
            match update.value() {
                Some(value) => transaction.put(INDEX, key, ByteVec::from(value))?,
                None => transaction.remove::<ByteVec, ByteVec>(INDEX, key, None)?,
            }
        }
        transaction.prepare()?.commit()?;
        Ok(())
    }

    fn reader(&self) -> Result<Snapshot> {
        Ok(self.persy.snapshot()?)
    }

    fn get(&self, reader: &mut Snapshot, key: &[u8]) -> Result<Option<Found>> {
        Ok(reader.one(INDEX, &ByteVec::from(key))?.map(Found))
    }

    fn scan(&self, reader: &mut Snapshot, scan: &mut Scan) -> Result<()> {
        let (low, high) = scan.range();
        let range = (low.map(ByteVec::from), high.map(ByteVec::from));
        let range = reader.range::<ByteVec, ByteVec, _>(INDEX, range)?;
        scan.visit_range(range.flat_map(|(key, values)| {
            values.map(move |value| Ok::<_, Infallible>((Found(key.clone()), Found(value))))
        }))
    }
}

export!(PersyIndex);
