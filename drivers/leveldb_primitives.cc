// LevelDB's functions for blocks of bytes: db_bench's crc32c, snappycomp and
// snappyuncomp.

#include "common/loops/leveldb_primitives.h"

#include <snappy.h>

#include <cstring>
#include <stdexcept>

// Declared in no header that LevelDB installs, and a shared library may not
// export it: hence weak.
namespace leveldb::crc32c {
[[gnu::weak]] uint32_t Extend(uint32_t crc, const char* data, size_t size);
}

namespace kvmatrix {
namespace {

void Checksum(std::string_view input, std::string& output) {
  if (leveldb::crc32c::Extend == nullptr)
    throw Unsupported(
        "this build of LevelDB does not export its checksum function");
  const uint32_t crc = leveldb::crc32c::Extend(0, input.data(), input.size());
  output.resize(sizeof(crc));
  std::memcpy(output.data(), &crc, sizeof(crc));
}

void Compress(std::string_view input, std::string& output) {
  output.resize(snappy::MaxCompressedLength(input.size()));
  size_t size = 0;
  snappy::RawCompress(input.data(), input.size(), output.data(), &size);
  output.resize(size);
}

void Uncompress(std::string_view input, std::string& output) {
  size_t size = 0;
  if (!snappy::GetUncompressedLength(input.data(), input.size(), &size))
    throw std::runtime_error("Snappy finds no length in its own output");
  output.resize(size);
  if (!snappy::RawUncompress(input.data(), input.size(), output.data()))
    throw std::runtime_error("Snappy cannot read its own output");
}

}  // namespace

const LevelDbPrimitives kLevelDbPrimitives = {
    .crc32c = Checksum, .compress = Compress, .uncompress = Uncompress};

}  // namespace kvmatrix
