//! Makes an engine in Rust a plug-in of kvmatrix.
//!
//! An engine is a `cdylib` crate whose one source file implements [`Engine`]
//! and ends in `kvmatrix_driver::export!(TheEngine);`.  drivers/rust/null-rust
//! has the shortest, and drivers/rust/README.md all steps.

pub mod abi;
mod database_calls;
#[doc(hidden)]
pub mod describe;
mod engine;
mod facts;
mod reader;
mod scan;
mod session_calls;
mod types;
mod waiting;

pub use engine::Engine;
pub use reader::View;
pub use scan::{Order, Scan};
pub use std::ffi::CStr; // names and addresses, for kvmatrix/driver.h
pub use types::*;
pub use waiting::{wait_until, wait_until_idle};

/// Defines the type `Reader` of an [`Engine`] and `reader()`, if it reads through none: what
/// `get` and `scan` receive is a `&mut ()`.
#[macro_export]
macro_rules! no_reader {
    () => {
        type Reader = ();
        fn reader(&self) -> $crate::Result<()> {
            Ok(())
        }
    };
}

/// Exports `kvm_driver_get()`, the one symbol of a plug-in.
#[macro_export]
macro_rules! export {
    ($engine:ty) => {
        #[unsafe(no_mangle)]
        extern "C" fn kvm_driver_get(abi: u32) -> *const $crate::abi::kvm_driver {
            static DRIVER: $crate::abi::kvm_driver = $crate::describe::describe::<$engine>();
            let known = abi == $crate::abi::KVM_ABI;
            if known { &raw const DRIVER } else { ::std::ptr::null() }
        }
    };
}
