//! The types of abi.rs have the layouts and values of kvmatrix/driver.h.

use kvmatrix_driver::abi::*;
use std::fmt::Write as _;
use std::mem::offset_of;
use std::process::Command;

const HEADERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugins");

/// Writes a check of the size of a struct and the offset of each field.
macro_rules! check_struct {
    ($text:ident, $name:ident { $($field:ident),* }) => {
        let size = size_of::<$name>();
        writeln!($text, "_Static_assert(sizeof({}) == {size}, \"\");",
                 stringify!($name)).unwrap();
        $(
            let offset = offset_of!($name, $field);
            let field = stringify!($field).trim_start_matches("r#");
            writeln!($text, "_Static_assert(offsetof({}, {field}) == {offset}, \
                             \"{field}\");", stringify!($name)).unwrap();
        )*
        // All fields are named above, or this does not compile.
        let _ = |value: $name| { let $name { $($field: _),* } = value; };
    };
}

macro_rules! check_values {
    ($text:ident, $($name:ident),*) => {
        $(writeln!($text, "_Static_assert({} == {}, \"{}\");",
                   stringify!($name), $name, stringify!($name)).unwrap();)*
    };
}

fn checks() -> String {
    let mut text = String::from("#include \"kvmatrix/driver.h\"\n");
    check_struct!(text, kvm_bytes { data, size });
    check_struct!(text, kvm_error { text });
    check_struct!(text, kvm_update { key, value, is_delete });
    check_struct!(text, kvm_entry { key, value });
    check_struct!(
        text,
        kvm_options {
            size,
            durability,
            path,
            cache_size,
            threads,
            expected_entries,
            key_size,
            value_size,
            flags,
            compression,
            unused
        }
    );
    check_struct!(text, kvm_limits { size, unused, key_size, value_size, batch_size });
    check_struct!(text, kvm_flag { name, r#type, default_value, help });
    check_struct!(text, kvm_guarantee { promise, source });
    check_struct!(
        text,
        kvm_driver {
            abi,
            size,
            name,
            licence,
            codec,
            origin,
            origin_sha256,
            engine_flags,
            scans,
            properties,
            flags,
            flag_count,
            code,
            version,
            guarantees,
            open,
            close,
            limits,
            flush,
            settle,
            compact,
            settings,
            counters,
            session,
            end,
            write,
            get,
            scan,
            unused
        }
    );
    check_values!(
        text,
        KVM_ABI,
        KVM_OK,
        KVM_ABSENT,
        KVM_UNSUPPORTED,
        KVM_FAILED,
        KVM_BUFFERED,
        KVM_CONSISTENT,
        KVM_DURABLE,
        KVM_NOT_OFFERED,
        KVM_LOSES_NOTHING,
        KVM_LOSES_NEWEST,
        KVM_MAY_BE_CORRUPT,
        KVM_UNORDERED,
        KVM_FORWARD,
        KVM_BOTH_WAYS,
        KVM_STORES_NOTHING,
        KVM_KEEPS_THREADS,
        KVM_COMPILES_LATE,
        KVM_OWN_SYSTEM_CALLS
    );
    text
}

#[test]
fn types_are_those_of_the_header() {
    let file = std::env::temp_dir().join(format!("kvm_layout_{}.c", std::process::id()));
    std::fs::write(&file, checks()).unwrap();
    let output = Command::new("cc")
        .args(["-std=c11", "-fsyntax-only", "-I", HEADERS])
        .arg(&file)
        .output()
        .expect("there is a C compiler");
    std::fs::remove_file(&file).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}
