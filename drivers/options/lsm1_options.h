// The flags of lsm1.cc, the only file that includes this, and the options that
// they set.
//
//   for (const auto& [parameter, value] : Requested(durability))
//     Configure(db, parameter, value);   // throws if lsm1 has another value

#ifndef DRIVERS_OPTIONS_LSM1_OPTIONS_H_
#define DRIVERS_OPTIONS_LSM1_OPTIONS_H_

#include <gflags/gflags.h>
#include <lsm.h>

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/driver.h"

DEFINE_int32(autoflush, 1024,
             "size of the tree in memory that is written out, in KiB; there "
             "are two of them meanwhile");
DEFINE_int32(autocheckpoint, 2048,
             "a checkpoint after this many KiB written to the database");
DEFINE_int32(automerge, 4, "number of segments that are merged together");
DEFINE_int32(block_size, 1024, "size of a block of the file, in KiB");
DEFINE_int32(page_size, 4096, "size of a page, in bytes");
// lsm1's own default is 1, with which 3.46.1 crashes; ENGINES_ON_REQUEST.md has
// the evidence.
DEFINE_int32(mmap, 0,
             "0: read the file by system calls, with a cache of 2 MiB for each "
             "connection; 1: map it; more: map that many KiB of it");
DEFINE_bool(multiple_processes, true,
            "let other processes open the database: locks of the file system "
            "and shared memory in a file");

namespace kvmatrix {

using Settings = std::map<std::string, std::string>;

// A parameter of lsm_config() and its name in reports.
struct Parameter {
  const char* name;
  int number;
  int value;
};

inline const char* TextOf(int code) {
  switch (code) {
    case LSM_BUSY:
      return "lsm1: busy";
    case LSM_NOMEM:
      return "lsm1: out of memory";
    case LSM_IOERR:
    case LSM_IOERR_NOENT:
      return "lsm1: error of input or output";
    case LSM_CORRUPT:
      return "lsm1: the database is corrupt";
    case LSM_FULL:
      return "lsm1: the database is full";
    case LSM_CANTOPEN:
      return "lsm1: cannot open the database";
    case LSM_PROTOCOL:
      return "lsm1: locking protocol";
    case LSM_MISUSE:
      return "lsm1: wrong use of a call";
    case LSM_MISMATCH:
      return "lsm1: another compression";
    default:
      return "lsm1: error";
  }
}

inline void Check(int code) {
  if (code != LSM_OK)
    throw std::runtime_error(std::string(TextOf(code)) + " (code " +
                             std::to_string(code) + ")");
}

inline int SafetyOf(Durability durability) {
  constexpr int kSafety[] = {LSM_SAFETY_OFF, LSM_SAFETY_NORMAL,
                             LSM_SAFETY_FULL};
  return kSafety[static_cast<int>(durability)];
}

// Returns the parameters, all of which are set before the database is opened.
inline std::vector<Parameter> Requested(Durability durability) {
  return {{"autocheckpoint", LSM_CONFIG_AUTOCHECKPOINT, FLAGS_autocheckpoint},
          {"autoflush", LSM_CONFIG_AUTOFLUSH, FLAGS_autoflush},
          {"automerge", LSM_CONFIG_AUTOMERGE, FLAGS_automerge},
          {"block_size", LSM_CONFIG_BLOCK_SIZE, FLAGS_block_size},
          {"mmap", LSM_CONFIG_MMAP, FLAGS_mmap},
          {"multiple_processes", LSM_CONFIG_MULTIPLE_PROCESSES,
           FLAGS_multiple_processes},
          {"page_size", LSM_CONFIG_PAGE_SIZE, FLAGS_page_size},
          {"safety", LSM_CONFIG_SAFETY, SafetyOf(durability)}};
}

inline void Configure(lsm_db* db, const Parameter& parameter) {
  int value = parameter.value;
  Check(lsm_config(db, parameter.number, &value));
}

// Returns the parameters in force.  Throws std::runtime_error if one is not as
// requested: lsm1 ignores values that it does not accept.
inline Settings Describe(lsm_db* db, Durability durability) {
  Settings settings = {
      {"cache_size", "fixed by lsm1: 2 MiB for each connection"}};
  for (const auto& [name, number, requested] : Requested(durability)) {
    int value = -1;  // means: only report
    Check(lsm_config(db, number, &value));
    settings[name] = std::to_string(value);
    if (value != requested)
      throw std::runtime_error(std::string(name) + " is " + settings[name] +
                               ", not " + std::to_string(requested) +
                               " as requested");
  }
  return settings;
}

}  // namespace kvmatrix

#endif  // DRIVERS_OPTIONS_LSM1_OPTIONS_H_
