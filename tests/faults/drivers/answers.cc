// Lies of the executable itself: as it exits, it changes a number in the line
// that it has written.

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/faults/drivers/lies.h"

namespace kvmatrix {
namespace {

// Adds `amount` to the number after `key` in the file --json.
void Edit(std::string_view key, int64_t amount) {
  std::stringstream text;
  text << std::ifstream(FlagText("json")).rdbuf();
  std::string line = text.str();
  const size_t start = line.find(key) + key.size();
  const size_t end = line.find_first_not_of("0123456789", start);
  const int64_t number = std::stoll(line.substr(start, end - start));
  if (number == 0) return;  // so that the database can be filled
  line.replace(start, end - start, std::to_string(number + amount));
  std::ofstream(FlagText("json"), std::ios::trunc) << line;
}

template <void (*kEdit)()>
Behaviour Edits() {
  Behaviour lie;
  lie.open = [] { std::atexit(kEdit); };
  return lie;
}

void FindMore() { Edit("\"found\":", 1); }
void FindLess() { Edit("\"found\":", -1); }
void DoLess() {
  Edit("\"ops\":", -1);
  Edit("\"ops_by_thread\":[", -1);
}

constexpr Lie kLies[] = {
    {"found-more", "reports one more found entry than it found",
     Edits<FindMore>},
    {"found-less", "reports one found entry fewer than it found",
     Edits<FindLess>},
    {"ops-less", "reports one operation fewer than it performed",
     Edits<DoLess>},
};

}  // namespace

std::span<const Lie> LiesOfAnswers() { return kLies; }

}  // namespace kvmatrix
