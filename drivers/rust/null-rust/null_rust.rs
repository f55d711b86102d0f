//! null-rust: does nothing.  Its results are the cost of the harness and of the
//! bridge to Rust.

use kvmatrix_driver::*;

struct Null {
    entries: u64,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl Engine for Null {
    const NAME: &'static CStr = c"null-rust";
    const CRATE: &'static str = env!("CARGO_PKG_NAME");
    const LICENCE: &'static CStr = c"Apache-2.0";
    const PROPERTIES: u32 = abi::KVM_STORES_NOTHING;
    const PROMISES: [Promise; 3] = [NotOffered; 3];
    const SOURCE: &'static CStr = c"";
    no_reader!();
    type Value = View;

    fn open(options: &Options) -> Result<(Self, Vec<Setting>)> {
        let null = Null {
            entries: options.expected_entries,
            key: vec![b'0'; options.key_size as usize],
            value: vec![0; options.value_size as usize],
        };
        Ok((null, vec![reported("stores", "nothing")]))
    }

    fn compact(&mut self) -> Result<()> {
        Ok(())
    }

    fn write(&self, _: &[Update]) -> Result<()> {
        Ok(())
    }

    fn get(&self, _: &mut (), _: &[u8]) -> Result<Option<View>> {
        // SAFETY: the database keeps the value.
        Ok(Some(unsafe { View::new(&self.value) }))
    }

    fn scan(&self, _: &mut (), scan: &mut Scan) -> Result<()> {
        for _ in 0..self.entries {
            if !scan.visit(&self.key, &self.value) {
                break;
            }
        }
        Ok(())
    }
}

export!(Null);
