// The driver under test is the plug-in of --driver.  It is loaded before
// main(), because tests use kDriver from the start.

#include <unistd.h>

#include <fstream>
#include <string>

#include "common/cli/console.h"
#include "common/cli/executable.h"
#include "common/spec/config.h"

namespace kvmatrix {
namespace {

Driver Load() {
  static std::vector<std::string> command;
  std::ifstream file("/proc/self/cmdline");
  for (std::string word; std::getline(file, word, '\0');) {
    command.push_back(word);
  }
  std::vector<const char*> words;
  for (const std::string& word : command) words.push_back(word.c_str());
  try {
    return SelectDriver(words);
  } catch (const UsageError& error) {
    PrintError(error.what());
    _exit(2);
  }
}

}  // namespace

extern const Driver kDriver;
const Driver kDriver = Load();

}  // namespace kvmatrix
