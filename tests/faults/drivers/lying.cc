// db_bench_lying: the reference with the lie that --lie names.
//
// Compiled with kDriver defined as kReference, so that the reference's driver
// file links under that name; kDriver itself is defined here.

#include <gflags/gflags.h>

#include <initializer_list>

#include "tests/faults/drivers/lies.h"

#undef kDriver

namespace kvmatrix {
namespace {

Behaviour Honest() { return {}; }

constexpr Lie kHonest[] = {{"none", "is the reference, unchanged", Honest}};

// Calls `visit` with every lie, the honest engine first.
template <typename Visit>
void ForEachLie(Visit visit) {
  for (const std::span<const Lie> lies :
       {std::span<const Lie>(kHonest), LiesOfWrites(), LiesOfGets(),
        LiesOfScans(), LiesOfTime(), LiesOfAnswers()}) {
    for (const Lie& lie : lies) visit(lie);
  }
}

// One line per lie, for --help and for readers of --describe.
const char* ListOfLies() {
  static const std::string list = [] {
    std::string text = "the lie to tell:";
    ForEachLie([&](const Lie& lie) {
      text += "\n" + std::string(lie.name) + ": " + lie.does;
    });
    return text;
  }();
  return list.c_str();
}

}  // namespace
}  // namespace kvmatrix

DEFINE_string(lie, "none", kvmatrix::ListOfLies());
DEFINE_uint64(lie_every, 100, "the N in the descriptions of the lies");
DEFINE_bool(lie_later, false, "tell no lie while a database is prepared");

namespace kvmatrix {
namespace {

// The fill that reads start from, or its audit.
bool Prepares() {
  constexpr char kFill[] = "filluniquerandom";
  return FlagText("benchmarks") == kFill ||
         (FlagText("benchmarks") == "verify" && FlagText("after") == kFill);
}

Behaviour Chosen() {
  Behaviour (*chosen)() = nullptr;
  ForEachLie([&](const Lie& lie) {
    if (FLAGS_lie == lie.name) chosen = lie.behaviour;
  });
  if (chosen == nullptr) {
    throw std::runtime_error("--lie: unknown lie '" + FLAGS_lie +
                             "'; see --help");
  }
  return FLAGS_lie_later && Prepares() ? Honest() : chosen();
}

std::unique_ptr<Database> Open(const Options& options) {
  static const Driver wrapped = Wrapped(Chosen());
  return wrapped.open(options);
}

std::string Version() { return "1"; }

}  // namespace

extern const Driver kDriver;
const Driver kDriver = {.name = LYING_NAME,
                        .licence = "Apache-2.0",
                        .codec = "",
                        .scans = LYING_SCANS,
                        .stores = kReference.stores,
                        .guarantees = kReference.guarantees,
                        .version = Version,
                        .code = reinterpret_cast<const void*>(&Version),
                        .open = Open};

}  // namespace kvmatrix
