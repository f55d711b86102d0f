// What LevelDB does to blocks of bytes: db_bench's crc32c, snappycomp and
// snappyuncomp.

#ifndef DRIVERS_LEVELDB_PRIMITIVES_H_
#define DRIVERS_LEVELDB_PRIMITIVES_H_

#include "common/driver.h"

namespace kvmatrix {

std::span<const Primitive> LevelDbPrimitives();

}  // namespace kvmatrix

#endif  // DRIVERS_LEVELDB_PRIMITIVES_H_
