//! What the bridge adds to the calls of an engine.

use kvmatrix_driver::abi::*;
use kvmatrix_driver::*;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

#[derive(Default)]
struct Map {
    map: Mutex<BTreeMap<Vec<u8>, Arc<[u8]>>>,
    made: AtomicUsize, // readers
    live: Arc<()>,     // has one reference more for each reader
}

/// Fails for some keys; "é" is cut where an error has no room for it.
fn fail_for(key: &[u8]) -> Result<()> {
    match key {
        b"panic" => panic!("for {}", 1),
        b"error" => Err(std::io::Error::other("é".repeat(400)))?,
        _ => Ok(()),
    }
}

impl Engine for Map {
    const NAME: &'static CStr = c"map";
    const CRATE: &'static str = "kvmatrix-driver";
    const LICENCE: &'static CStr = c"Apache-2.0";
    const FLAGS: &'static [kvm_flag] = &[
        flag(c"refuse", c"bool", c"false", c"refuse to open"),
        HOLD_READ_TXN,
        flag(c"b", c"string", c"", c"what the engine reports otherwise"),
    ];
    const PROMISES: [Promise; 3] = [LosesNewest; 3];
    const SOURCE: &'static CStr = c"https://example.org";
    type Reader = Arc<()>;
    type Value = Arc<[u8]>;

    fn guarantees(flags: &Flags) -> [Guarantee; 3] {
        let refused = flags.get::<bool>(c"refuse");
        Self::PROMISES.map(|promise| (if refused { NotOffered } else { promise }, Self::SOURCE))
    }
    fn open(options: &Options) -> Result<(Self, Vec<Setting>)> {
        if options.flags.get(c"refuse") {
            return Err(Error::Unsupported("refuses".into()));
        }
        Ok((Map::default(), vec![reported("a", 1), reported("b", "x")]))
    }
    fn counters(&self) -> Vec<(&'static str, u64)> {
        let live = Arc::strong_count(&self.live) - 1;
        vec![("live", live as u64), ("made", self.made.load(Ordering::Relaxed) as u64)]
    }
    fn write(&self, batch: &[Update]) -> Result<()> {
        let put = |map: &mut BTreeMap<_, _>, key: &[u8], value: &[u8]| {
            fail_for(key).map(|()| map.insert(key.into(), value.into()))
        };
        let delete = |map: &mut BTreeMap<_, _>, key: &[u8]| Ok(map.remove(key));
        apply(batch, &mut *self.map.lock().unwrap(), put, delete)
    }
    fn reader(&self) -> Result<Arc<()>> {
        self.made.fetch_add(1, Ordering::Relaxed);
        Ok(self.live.clone())
    }
    fn get(&self, _: &mut Arc<()>, key: &[u8]) -> Result<Option<Arc<[u8]>>> {
        fail_for(key)?;
        Ok(self.map.lock().unwrap().get(key).cloned())
    }
    fn scan(&self, _: &mut Arc<()>, scan: &mut Scan) -> Result<()> {
        let map = self.map.lock().unwrap();
        let range = map.range::<[u8], _>(scan.range());
        scan.visit_range(range.map(std::io::Result::Ok))
    }
}

static DRIVER: kvm_driver = describe::describe::<Map>();

fn bytes(text: &str) -> kvm_bytes {
    kvm_bytes { data: text.as_ptr().cast(), size: text.len() }
}

fn text(bytes: kvm_bytes) -> &'static str {
    let view = unsafe { std::slice::from_raw_parts(bytes.data.cast::<u8>(), bytes.size) };
    std::str::from_utf8(view).unwrap()
}

fn no_error() -> kvm_error {
    kvm_error { text: [0; 512] }
}

fn message(error: &kvm_error) -> &str {
    let text = unsafe { CStr::from_ptr(error.text.as_ptr()) };
    text.to_str().expect("whole characters")
}

fn open_with(values: [&CStr; 2], error: &mut kvm_error) -> (kvm_status, *mut c_void) {
    let flags = [values[0], values[1], c"requested"].map(CStr::as_ptr);
    let options = kvm_options {
        size: size_of::<kvm_options>() as u32,
        durability: KVM_BUFFERED,
        path: c"/".as_ptr(),
        cache_size: 0,
        threads: 1,
        expected_entries: 0,
        key_size: 0,
        value_size: 0,
        flags: flags.as_ptr(),
        compression: 0,
        unused: 0,
    };
    let mut database = null_mut();
    let status = unsafe { (DRIVER.open)(&options, &mut database, error) };
    (status, database)
}

/// A database with a session and the entries a=1, b=2, c=3.
fn filled(hold: &CStr) -> (*mut c_void, *mut c_void) {
    let (status, database) = open_with([c"false", hold], &mut no_error());
    assert_eq!(status, KVM_OK);
    let (mut session, mut error) = (null_mut(), no_error());
    unsafe { (DRIVER.session)(database, &mut session, &mut error) };
    let put = |key, value| kvm_update { key: bytes(key), value: bytes(value), is_delete: 0 };
    let delete = kvm_update { is_delete: 1, ..put("d", "") };
    let batch = [put("a", "1"), put("b", "2"), put("c", "3"), put("d", "4")];
    unsafe {
        let n = batch.len();
        let status = (DRIVER.write)(session, batch.as_ptr(), n, &mut error);
        assert_eq!(status, KVM_OK);
        let status = (DRIVER.write)(session, &delete, 1, &mut error);
        assert_eq!(status, KVM_OK);
    }
    (database, session)
}

fn close((database, session): (*mut c_void, *mut c_void)) {
    unsafe {
        (DRIVER.end)(session);
        assert_eq!((DRIVER.close)(database, &mut no_error()), KVM_OK);
    }
}

fn get(session: *mut c_void, key: &str) -> (kvm_status, String) {
    let (mut value, mut error) = (bytes(""), no_error());
    let status = unsafe { (DRIVER.get)(session, bytes(key), &mut value, &mut error) };
    let found = if status == KVM_OK { text(value) } else { message(&error) };
    (status, found.into())
}

#[test]
fn a_get_finds_what_was_written() {
    let (database, session) = filled(c"false");
    assert_eq!(get(session, "b"), (KVM_OK, "2".into()));
    assert_eq!(get(session, "d").0, KVM_ABSENT);
    close((database, session));
}

unsafe extern "C" fn visit(context: *mut c_void, entries: *const kvm_entry, n: usize) -> c_int {
    let seen = unsafe { &mut *context.cast::<String>() };
    for entry in unsafe { std::slice::from_raw_parts(entries, n) } {
        *seen += text(entry.key);
    }
    (seen.len() < 2) as c_int
}

#[test]
fn a_scan_starts_and_stops_where_it_should() {
    let (database, session) = filled(c"false");
    for (start, backward, expected) in
        [("", 0, "ab"), ("", 1, "cb"), ("bb", 0, "c"), ("bb", 1, "ba")]
    {
        let mut seen = String::new();
        let context = (&raw mut seen).cast();
        let status = unsafe {
            let start = bytes(start);
            let mut error = no_error();
            (DRIVER.scan)(session, start, backward, visit, context, &mut error)
        };
        assert_eq!((status, seen.as_str()), (KVM_OK, expected));
    }
    close((database, session));
}

#[test]
fn a_panic_is_a_failure() {
    let (database, session) = filled(c"false");
    assert_eq!(get(session, "panic"), (KVM_FAILED, "panicked: for 1".into()));
    close((database, session));
}

#[test]
fn a_long_error_is_cut_between_characters() {
    let (database, session) = filled(c"false");
    assert_eq!(get(session, "error"), (KVM_FAILED, "é".repeat(255)));
    close((database, session));
}

#[test]
fn what_open_cannot_do_is_unsupported() {
    let mut error = no_error();
    assert_eq!(open_with([c"true", c"false"], &mut error).0, KVM_UNSUPPORTED);
    assert_eq!(message(&error), "refuses");
}

/// Returns how many readers exist, and how many have been made.
fn readers(database: *mut c_void) -> String {
    let mut text = [0u8; 100];
    let to = text.as_mut_ptr().cast();
    let size = unsafe { DRIVER.counters.unwrap()(database, to, text.len()) };
    String::from_utf8(text[..size].into()).unwrap()
}

#[test]
fn each_read_has_a_new_reader() {
    let (database, session) = filled(c"false");
    get(session, "a");
    get(session, "a");
    assert_eq!(readers(database), "live=1\nmade=2\n");
    close((database, session));
}

#[test]
fn a_reader_is_held_until_something_is_written() {
    let (database, session) = filled(c"true");
    get(session, "a");
    get(session, "a");
    assert_eq!(readers(database), "live=1\nmade=1\n");
    let (mut other, mut error) = (null_mut(), no_error());
    unsafe { (DRIVER.session)(database, &mut other, &mut error) };
    let put = kvm_update { key: bytes("e"), value: bytes("5"), is_delete: 0 };
    assert_eq!(unsafe { (DRIVER.write)(other, &put, 1, &mut error) }, KVM_OK);
    assert_eq!(get(session, "e"), (KVM_OK, "5".into()));
    assert_eq!(readers(database), "live=1\nmade=2\n");
    unsafe { (DRIVER.end)(other) };
    close((database, session));
}

#[test]
fn idle_sessions_keep_nothing_open_during_calls_on_the_database() {
    for call in [DRIVER.flush, DRIVER.settle, DRIVER.compact.unwrap()] {
        let (database, session) = filled(c"true");
        get(session, "a");
        unsafe { call(database, &mut no_error()) };
        assert_eq!(readers(database), "live=0\nmade=1\n");
        close((database, session));
    }
}

#[test]
fn settings_include_each_flag_once_and_are_cut_to_the_room_there_is() {
    let (database, session) = filled(c"false");
    let all = "a=1\nb=x\nrefuse=false (as requested)\nhold_read_txn=false\n";
    let mut out = [b'?'; 30];
    let settings = |room| unsafe { (DRIVER.settings)(database, null_mut(), room) };
    assert_eq!(settings(0), all.len());
    let to = out.as_mut_ptr().cast();
    unsafe { (DRIVER.settings)(database, to, 4) };
    assert_eq!(&out[..5], b"a=1\n?");
    close((database, session));
}

#[test]
fn guarantees_depend_on_flags() {
    let mut result = [const { kvm_guarantee { promise: 9, source: null() } }; 3];
    let flags = [c"true".as_ptr(); 3];
    unsafe { (DRIVER.guarantees)(flags.as_ptr(), result.as_mut_ptr()) };
    assert!(result.iter().all(|each| each.promise == KVM_NOT_OFFERED));
    let flags = [c"false".as_ptr(); 3];
    unsafe { (DRIVER.guarantees)(flags.as_ptr(), result.as_mut_ptr()) };
    assert!(result.iter().all(|each| each.promise == KVM_LOSES_NEWEST));
}

#[test]
fn versions_come_from_the_lock_file() {
    let read = |text| unsafe { CStr::from_ptr(text) }.to_str().unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(read((DRIVER.version)()), version);
    assert_eq!(read(DRIVER.origin), format!("crate kvmatrix-driver {version}"));
    assert!(read(DRIVER.engine_flags).starts_with("rustc "));
}
