//! Waiting for the threads of an engine.

use crate::types::{Error, Result};
use std::thread::sleep;
use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(1);
const IDLE_POLLS: usize = 20; // in a row: an engine may be between two jobs
const PATIENCE: usize = 10_000; // polls

/// Returns once `is_busy` has found no work for 20 ms, for engines that cannot wait for that
/// themselves.
///
/// There is no limit of time: `is_busy` should fail if the work has, or if it will never be done.
pub fn wait_until_idle(is_busy: impl Fn() -> Result<bool>) -> Result<()> {
    let mut idle = 0;
    while idle < IDLE_POLLS {
        idle = if is_busy()? { 0 } else { idle + 1 };
        sleep(PAUSE);
    }
    Ok(())
}

/// Returns once `is_done` says so, and fails with `problem` if it does not within ten seconds.
pub fn wait_until(is_done: impl Fn() -> bool, problem: &str) -> Result<()> {
    for _ in 0..PATIENCE {
        if is_done() {
            return Ok(());
        }
        sleep(PAUSE);
    }
    Err(Error::Failed(problem.into()))
}
