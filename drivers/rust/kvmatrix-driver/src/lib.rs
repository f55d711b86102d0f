//! Makes an engine in Rust a plug-in of kvmatrix.
//!
//! An engine is a `cdylib` crate whose one source file implements [`Engine`]
//! and ends in `kvmatrix_driver::export!(TheEngine);`.  drivers/rust/null has
//! the shortest, and drivers/rust/README.md all steps.

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

pub use engine::Engine;
pub use reader::View;
pub use scan::{Order, Scan};
pub use types::*;

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
