// Loads the plug-in of --driver before main(), for programs that need a driver
// among their constants.

#ifndef TESTS_PLUGINS_COMMAND_LINE_H_
#define TESTS_PLUGINS_COMMAND_LINE_H_

#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "common/cli/console.h"
#include "common/driver.h"
#include "common/spec/config.h"

namespace kvmatrix {

// Returns what `select` returns for the command line of this process; ends the
// process with a message if it throws.
inline Driver LoadBeforeMain(
    const Driver& (*select)(std::vector<const char*>&)) {
  static std::vector<std::string> command;
  std::ifstream file("/proc/self/cmdline");
  for (std::string word; std::getline(file, word, '\0');) {
    command.push_back(word);
  }
  std::vector<const char*> words;
  for (const std::string& word : command) words.push_back(word.c_str());
  try {
    return select(words);
  } catch (const UsageError& error) {
    PrintError(error.what());
    _exit(2);
  }
}

}  // namespace kvmatrix

#endif  // TESTS_PLUGINS_COMMAND_LINE_H_
