#include "common/loops/leveldb_primitives.h"

#include <cstdio>
#include <cstring>

#include "common/stream/leveldb_pool.h"

namespace kvmatrix {
namespace {

// A primitive, the block it is applied to, and the expected result.
struct Task {
  LevelDbPrimitives::Run run;
  std::string input;
  std::string expected;
  std::string label;
};

// Returns the result of one call.  Made before the loop starts, because the
// library may turn out to lack the function.
std::string Yield(LevelDbPrimitives::Run run, const std::string& input) {
  std::string output;
  run(input, output);
  return output;
}

Task ChecksumTask() {
  Task task{kLevelDbPrimitives.crc32c, std::string(kPrimitiveBlock, 'x'), "",
            "4K per op"};
  const uint32_t crc = Crc32c(task.input);
  // In the machine's byte order, as the driver writes its result.
  task.expected.assign(reinterpret_cast<const char*>(&crc), sizeof(crc));
  Yield(task.run, task.input);
  return task;
}

// The block is the first one of db_bench's values, which db_bench compresses
// too.
Task CodecTask(const ThreadContext& w) {
  const auto& [crc32c, compress, uncompress] = kLevelDbPrimitives;
  const LevelDbPool pool(w.config.compression_ratio);
  const std::string block(pool.bytes().substr(0, kPrimitiveBlock));
  const std::string compressed = Yield(compress, block);
  if (Yield(uncompress, compressed) != block) {
    w.check.Fail("a compressed block does not uncompress to its bytes in",
                 w.benchmark.name);
  }
  if (w.benchmark.name == "snappyuncomp")
    return {uncompress, compressed, block, ""};
  char label[40];
  std::snprintf(label, sizeof(label), "output: %.1f%%",
                100.0 * static_cast<double>(compressed.size()) /
                    static_cast<double>(block.size()));
  return {compress, block, compressed, label};
}

}  // namespace

uint32_t Crc32c(std::string_view bytes) {
  constexpr uint32_t kReversedPolynomial = 0x82f63b78;
  uint32_t crc = ~uint32_t{0};
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      crc = crc >> 1 ^ ((crc & 1) != 0 ? kReversedPolynomial : 0);
    }
  }
  return ~crc;
}

LoopResult RunPrimitive(const ThreadContext& w) {
  const Task task =
      w.benchmark.name == "crc32c" ? ChecksumTask() : CodecTask(w);
  std::string output;
  uint64_t operations = 0;
  uint64_t different = 0;
  bool more = true;
  w.meter.Start();
  while (more && operations < w.benchmark.operations && w.meter.IsInTime(1)) {
    w.meter.Begin(1);
    task.run(task.input, output);
    different += output != task.expected;
    more = w.meter.Continue(++operations);
  }
  const uint64_t loop_ns = w.meter.StopNs(operations);
  if (different > 0) {
    w.check.Fail(
        std::to_string(different) + " results differ from the expected", "one");
  }
  LoopResult result{operations, loop_ns};
  result.bytes = operations * kPrimitiveBlock;
  result.label = task.label;
  return result;
}

}  // namespace kvmatrix
