#include "common/run/limits.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "common/mixes/graph_mix.h"
#include "common/random/thread_share.h"
#include "common/spec/quantities.h"
#include "common/stream/keys.h"

namespace kvmatrix {
namespace {

// `things` and `unit` name what has the size: "keys of 1000 bytes".
void Require(const Limit& limit, uint64_t size, const std::string& things,
             const std::string& unit) {
  if (size <= limit.max) return;
  std::string message = things + " of " + std::to_string(size) + " " + unit +
                        ", but the engine accepts at most " +
                        std::to_string(limit.max);
  if (*limit.reason != '\0') message += ": " + std::string(limit.reason);
  throw Unsupported(message);
}

// Returns the number of updates in the largest batch of any thread.
uint64_t LargestBatch(const Benchmark& benchmark, const Config& config) {
  if (!IsWriting(benchmark)) return 1;
  // The first thread has the largest share.
  const ThreadShare first{0, config.threads};
  return std::min(BatchSizeOf(benchmark, config),
                  first.CountOf(WritesOf(benchmark, config)));
}

struct ProcessLimit {
  int resource;
  int code;          // the error of a call that reaches it
  const char* word;  // of other messages about it; "" is in each
  const char* what;
  const char* option;  // of ulimit
  bool in_bytes;
};
constexpr ProcessLimit kProcessLimits[] = {
    {RLIMIT_AS, ENOMEM, "bad_alloc", "address space", "-v", true},
    {RLIMIT_NOFILE, EMFILE, "open_files", "open files", "-n", false},
    // Rare, and most engines do not say which error it was.
    {RLIMIT_FSIZE, EFBIG, "", "the size of a file", "-f", true},
    {RLIMIT_NPROC, EAGAIN, "create thread", "processes", "-u", false},
};

// Returns a size such as "7.6 GiB".
std::string SizeText(uint64_t bytes) {
  const int shift = bytes >= 1 << 30 ? 30 : bytes >= 1 << 20 ? 20 : 10;
  const char* const unit = shift == 30 ? " GiB" : shift == 20 ? " MiB" : " KiB";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f",
                static_cast<double>(bytes) / (1 << shift));
  std::string number = text;
  if (number.ends_with(".0")) number.resize(number.size() - 2);
  return number + unit;
}

}  // namespace

std::string Explained(std::string_view error, uint64_t mapped) {
  std::string explained(error);
  for (const ProcessLimit& of : kProcessLimits) {
    rlimit limit;
    const std::string text = std::generic_category().message(of.code);
    const bool is_about = error.find(text) != std::string_view::npos ||
                          error.find(of.word) != std::string_view::npos;
    if (!is_about || getrlimit(of.resource, &limit) != 0 ||
        limit.rlim_cur == RLIM_INFINITY) {
      continue;
    }
    if (of.resource == RLIMIT_AS && mapped > limit.rlim_cur) {
      explained += ": cannot map " + SizeText(mapped) + " (--map_size)";
    }
    explained += "; the limit of " + std::string(of.what) + " is " +
                 (of.in_bytes ? SizeText(limit.rlim_cur)
                              : std::to_string(limit.rlim_cur)) +
                 " (ulimit " + of.option + ")";
  }
  return explained;
}

void RequireWithin(const Limits& limits, const Benchmark& benchmark,
                   const Config& config, const Values& values) {
  if (!Changes(benchmark)) return;
  const uint64_t mixed =
      IsMixgraph(benchmark) ? config.mix.mixgraph.mix_max_value_size : 0;
  Require(limits.key_size, config.key_size, "keys", "bytes");
  Require(limits.value_size, std::max<uint64_t>(values.value_size(), mixed),
          "values", "bytes");
  Require(limits.batch_size, LargestBatch(benchmark, config), "batches",
          "updates");
}

void RequireNoMore(Session& session, const Oracle& oracle, const Values& values,
                   const Config& config) {
  constexpr uint64_t kKeys = 64;  // a random fill has left out a third of them
  constexpr uint32_t kVersions = 8;  // and has put some several times
  KeyBuffer buffer(config.key_shape());
  const uint64_t first = oracle.key_space();
  const uint64_t end = std::min(first + kKeys, config.key_shape().capacity());
  for (uint64_t key = first; key < end; ++key) {
    const std::optional<std::string_view> value = session.Get(buffer.Set(key));
    for (uint32_t version = 1; value && version <= kVersions; ++version) {
      if (!values.IsValueOf(values.Root(key, version), *value)) continue;
      throw std::runtime_error(
          "the database has entries beyond those of --num=" +
          std::to_string(config.num) +
          ": it was filled with a larger --num; use that one");
    }
  }
}

}  // namespace kvmatrix
