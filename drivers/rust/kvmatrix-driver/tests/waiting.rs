//! How engines wait for their threads.

use kvmatrix_driver::{Error, wait_until, wait_until_idle};
use std::cell::Cell;

/// Returns whether the job before `end` runs, and counts the questions.
fn runs(asked: &Cell<usize>, end: usize) -> bool {
    asked.set(asked.get() + 1);
    asked.get() <= end
}

#[test]
fn an_engine_is_idle_that_was_found_so_twenty_times_in_a_row() {
    let asked = Cell::new(0);
    let job_starts_late = || runs(&asked, 30) && asked.get() != 20;
    wait_until_idle(|| Ok(job_starts_late())).unwrap();
    assert_eq!(asked.get(), 50);
}

#[test]
fn a_failure_of_background_work_ends_waiting() {
    let answer = wait_until_idle(|| Err(Error::Failed("the disk is full".into())));
    assert!(matches!(answer, Err(Error::Failed(text)) if text == "the disk is full"));
}

#[test]
fn waiting_ends_when_the_work_is_done() {
    let asked = Cell::new(0);
    wait_until(|| !runs(&asked, 5), "still runs").unwrap();
    assert_eq!(asked.get(), 6);
}
