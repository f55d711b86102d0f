// How often this process made the kernel send data to the device.
//
// The linker takes the functions of barriers.cc instead of the C library's, for
// the engine too, whether it is linked statically or shared.  They count and
// make the system call.

#ifndef COMMON_TIMING_BARRIERS_H_
#define COMMON_TIMING_BARRIERS_H_

#include <cstdint>
#include <filesystem>

namespace kvmatrix {

// Returns the number of calls of fsync, fdatasync, msync with MS_SYNC, syncfs
// and sync so far, by all threads.  Writes to files that were opened with
// O_SYNC or O_DSYNC are not included, nor are system calls made without the C
// library.
uint64_t Barriers();

// Makes each later sync() write back only the file system that holds `folder`,
// as syncfs() does, instead of all of the machine, where processes that are
// tested at the same time would find their data on the disk.  For crash tests.
// Throws std::system_error if the folder cannot be opened.
void ConfineSync(const std::filesystem::path& folder);

}  // namespace kvmatrix

#endif  // COMMON_TIMING_BARRIERS_H_
