// How often this process waited until data were on the device.
//
// The linker takes the functions of barriers.cc instead of the C library's, for
// the engine too, whether it is linked statically or shared.  They count and
// make the system call.

#ifndef COMMON_TIMING_BARRIERS_H_
#define COMMON_TIMING_BARRIERS_H_

#include <cstdint>
#include <filesystem>

namespace kvmatrix {

// Returns the number of barriers so far, by all threads.  A barrier is one call
// of fsync, fdatasync, msync with MS_SYNC, syncfs or sync; or one call of
// write, pwrite, writev, pwritev or pwritev2 that is durable on return, because
// the file was opened with O_DSYNC or O_SYNC (which no later call can change)
// or the call has RWF_DSYNC or RWF_SYNC.
//
// Not seen are system calls made without the C library, those of io_uring and
// aio, writes through a duplicate of a descriptor, and those of stdio streams.
uint64_t Barriers();

// Makes the calls that only wait for the device do nothing from now on: a
// process that is killed loses nothing by that while the machine runs on.  For
// crash tests.
void SkipSyncs();

// Makes each later sync() write back only the file system that holds `folder`,
// as syncfs() does, instead of all of the machine, where processes that are
// tested at the same time would find their data on the disk.  For crash tests.
// Throws std::system_error if the folder cannot be opened.
void ConfineSync(const std::filesystem::path& folder);

}  // namespace kvmatrix

#endif  // COMMON_TIMING_BARRIERS_H_
