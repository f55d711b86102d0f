#include "common/crash/file_watch.h"

#include <system_error>

namespace kvmatrix {

bool FileWatch::HasChanged() {
  std::set<std::string> files = List();
  const bool has_changed = files != files_;
  files_ = std::move(files);
  return has_changed;
}

std::set<std::string> FileWatch::List() const {
  std::set<std::string> files;
  std::error_code error;  // a file may disappear meanwhile
  for (std::filesystem::recursive_directory_iterator it(folder_, error), end;
       !error && it != end; it.increment(error)) {
    files.insert(it->path().string());
  }
  return files;
}

}  // namespace kvmatrix
