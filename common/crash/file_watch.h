// Notices when an engine begins a new file or removes one: a log, a table, a
// journal.

#ifndef COMMON_CRASH_FILE_WATCH_H_
#define COMMON_CRASH_FILE_WATCH_H_

#include <filesystem>
#include <set>
#include <string>

namespace kvmatrix {

class FileWatch {
 public:
  explicit FileWatch(std::filesystem::path folder)
      : folder_(std::move(folder)), files_(List()) {}

  // Returns whether the folder has other files than at the last call, or at
  // first than at the construction.
  bool HasChanged();

 private:
  std::set<std::string> List() const;

  const std::filesystem::path folder_;
  std::set<std::string> files_;  // names, in subfolders too
};

}  // namespace kvmatrix

#endif  // COMMON_CRASH_FILE_WATCH_H_
