# cmake -DCARGO=cargo -P fetch.cmake, in the folder of Cargo.lock
#
# Fetches the packages that Cargo.lock pins, and says what to do if it cannot.

execute_process(COMMAND ${CARGO} fetch --quiet --locked
  ERROR_VARIABLE error RESULT_VARIABLE status)
if(status STREQUAL "0")
  return()
endif()
set(remedy "check the network and cargo's configuration")
if(error MATCHES "checksum")
  set(remedy "restore drivers/rust/Cargo.lock; if it is as committed, the registry has \
another package of this version: use another registry")
elseif(error MATCHES "--locked")
  set(remedy "Cargo.toml has changed: run cargo clippy there, and commit Cargo.lock")
endif()
message("${error}error: ${remedy}")
message(FATAL_ERROR "cargo fetch has failed")
