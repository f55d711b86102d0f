// The driver of an executable that is linked with it: all but db_bench_plugin.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "common/cli/executable.h"

namespace kvmatrix {
namespace {

// Where a library was that was built elsewhere, from the file NAME.origin next
// to the executable NAME: in it, the path would make equal builds different.
std::string Origin() {
  std::error_code unknown;
  auto path = std::filesystem::read_symlink("/proc/self/exe", unknown);
  std::ifstream file(path += ".origin");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return text.empty() ? kBuildFacts.origin : text;
}

}  // namespace

const Driver& SelectDriver(std::vector<const char*>&) { return kDriver; }

const BuildFacts& GetBuildFacts() {
  static const std::string origin = Origin();
  static const BuildFacts facts = [] {
    BuildFacts result = kBuildFacts;
    result.origin = origin.c_str();
    return result;
  }();
  return facts;
}

}  // namespace kvmatrix
