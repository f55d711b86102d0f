// What a plug-in is compiled with: kvmatrix.Describe writes the definition.

#ifndef DRIVERS_JAVA_ENGINE_FACTS_H_
#define DRIVERS_JAVA_ENGINE_FACTS_H_

#include <cstddef>
#include <cstdint>

#include "drivers/plugins/kvmatrix/driver.h"

namespace kvmatrix {

struct EngineFacts {
  const char *name, *licence, *codec, *origin, *origin_sha256, *version;
  uint32_t scans;  // kvm_scans
  bool stores;
  const kvm_flag* flags;  // the last is heap_size
  size_t flag_count;
  kvm_guarantee guarantees[3];
  uint64_t most_updates;   // of a batch; 0: no limit
  const char* class_name;  // of the Java class
  const char* class_path;
  const char* library_path;  // the folder of its native library, or ""
  const char* const* jars;   // as Jars.check() has them; ends with nullptr
};

extern const EngineFacts kEngine;

}  // namespace kvmatrix

#endif  // DRIVERS_JAVA_ENGINE_FACTS_H_
