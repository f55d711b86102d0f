// db_bench_leveldb with a flag --lie: an engine whose use of the disk or of the
// memory is not what it seems.  What it stores and answers is right.
//
//   twice     writes each entry to a second file as well
//   deferred  keeps its writes in a log, and does the work when it settles
//   hoard     keeps a copy of everything in memory
//
// Compiled with kDriver defined as kReference, as tests/system/slower.cc is.

#include <gflags/gflags.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/forwarding.h"

#undef kDriver

DEFINE_string(lie, "", "twice, deferred or hoard");

namespace kvmatrix {

extern const Driver kDriver;

namespace {

constexpr char kSecond[] = "second";

// What the sessions of a database share.  A single thread uses it.
struct Secret {
  explicit Secret(const std::filesystem::path& folder)
      : file(folder / kSecond),
        second(file, std::ios::app | std::ios::binary) {}

  std::filesystem::path file;
  std::ofstream second;
  std::vector<std::string> hoarded;
};

// Writes a text with its size before it.
void Put(std::string_view text, std::ostream& to) {
  const auto size = static_cast<uint32_t>(text.size());
  to.write(reinterpret_cast<const char*>(&size), sizeof(size));
  to.write(text.data(), size);
}

// Reads one; false at the end.
bool Take(std::istream& from, std::string& text) {
  uint32_t size = 0;
  if (!from.read(reinterpret_cast<char*>(&size), sizeof(size))) return false;
  text.resize(size);
  return static_cast<bool>(from.read(text.data(), size));
}

class LiarSession final : public ForwardingSession {
 public:
  LiarSession(std::unique_ptr<Session> inner, Secret& secret)
      : ForwardingSession(std::move(inner)), secret_(secret) {}

  void Write(std::span<const Update> batch) override {
    for (const Update& update : batch) {
      const std::string_view value = update.value.value_or("");
      if (FLAGS_lie == "hoard") {
        secret_.hoarded.push_back(std::string(update.key) + std::string(value));
      } else if (!FLAGS_lie.empty()) {
        Put(update.key, secret_.second);
        Put(value, secret_.second);
      }
    }
    if (FLAGS_lie != "deferred") inner().Write(batch);
  }

  // Does what was deferred.
  void Work() {
    if (FLAGS_lie != "deferred") return;
    secret_.second.flush();
    std::ifstream log(secret_.file, std::ios::binary);
    std::string key, value;
    while (Take(log, key) && Take(log, value)) {
      const Update update = {key, value};
      inner().Write({&update, 1});
    }
  }

 private:
  Secret& secret_;
};

class LiarDatabase final : public ForwardingDatabase {
 public:
  LiarDatabase(std::unique_ptr<Database> inner,
               const std::filesystem::path& folder)
      : ForwardingDatabase(std::move(inner)), secret_(folder) {}

  std::unique_ptr<Session> NewSession() override {
    auto session = std::make_unique<LiarSession>(
        ForwardingDatabase::NewSession(), secret_);
    only_ = session.get();
    return session;
  }
  void Flush() override {
    secret_.second.flush();
    ForwardingDatabase::Flush();
  }
  void Settle() override {
    only_->Work();
    ForwardingDatabase::Settle();
  }

 private:
  Secret secret_;
  LiarSession* only_ = nullptr;
};

std::unique_ptr<Database> Open(const Options& options) {
  auto inner = kReference.open(options);
  return std::make_unique<LiarDatabase>(std::move(inner), options.path);
}

Driver Liar() {
  Driver driver = kReference;
  driver.open = Open;
  return driver;
}

}  // namespace

const Driver kDriver = Liar();

}  // namespace kvmatrix
