// An LMDB environment that can be replaced while sessions exist, for lmdb.cc.
// A failure is thrown as std::runtime_error with LMDB's own message.
//
//   Environment environment(path, flags, readers);
//   Environment::Reader& reader = environment.AddReader();  // in a session
//   mdb_get(Renew(reader), environment.dbi(), ...)
//   environment.Rewrite();  // the session uses the same `reader` afterwards
//   environment.RemoveReader(reader);

#ifndef DRIVERS_LMDB_ENVIRONMENT_H_
#define DRIVERS_LMDB_ENVIRONMENT_H_

#include <fcntl.h>
#include <lmdb.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <system_error>

namespace kvmatrix {

inline void Check(int code) {
  if (code == MDB_MAP_FULL)
    throw std::runtime_error("the database is full; raise --map_size");
  if (code != MDB_SUCCESS) throw std::runtime_error(mdb_strerror(code));
}

// Aborted with the object.
using Transaction = std::unique_ptr<MDB_txn, void (*)(MDB_txn*)>;

inline Transaction Begin(MDB_env* env, unsigned flags) {
  MDB_txn* txn = nullptr;
  Check(mdb_txn_begin(env, nullptr, flags, &txn));
  return {txn, &mdb_txn_abort};
}

// Moves a read transaction to the newest snapshot, so that the session sees
// every acknowledged write.
inline MDB_txn* Renew(const Transaction& reader) {
  mdb_txn_reset(reader.get());
  Check(mdb_txn_renew(reader.get()));
  return reader.get();
}

// AddReader() and RemoveReader() are thread-safe.  Rewrite() is called while no
// other thread uses get(), dbi() or a reader.
class Environment {
 public:
  // A session's read transaction: reset, that is, it holds no snapshot but
  // keeps its slot.
  using Reader = Transaction;

  // Opens the database in the directory, with one table.
  Environment(std::filesystem::path path, uint64_t map_size, unsigned flags,
              unsigned readers)
      : path_(std::move(path)),
        map_size_(map_size),
        flags_(flags | MDB_NOTLS),
        max_readers_(readers) {
    Open();
  }

  MDB_env* get() const { return env_.get(); }
  MDB_dbi dbi() const { return dbi_; }

  // The reader stays at its address until it is removed.
  Reader& AddReader() {
    const std::lock_guard lock(mutex_);
    readers_.push_back(NewReader());
    return readers_.back();
  }
  void RemoveReader(const Reader& reader) {
    const std::lock_guard lock(mutex_);
    readers_.remove_if([&](const Reader& each) { return &each == &reader; });
  }

  // Replaces the file by a compacted copy, in which the pages of the tree are
  // in order and none is free.  LMDB has no call that does that in place, so
  // this closes the environment and opens it again.  If `durable`, the copy
  // reaches the disk before it replaces the file.
  void Rewrite(bool durable) {
    const std::lock_guard lock(mutex_);
    const std::filesystem::path copy = path_ / "compacted.mdb";
    WriteCopy(copy, durable);
    for (Reader& reader : readers_) reader.reset();
    env_.reset();
    std::filesystem::rename(copy, path_ / "data.mdb");
    if (durable) SyncFolder();
    Open();
    for (Reader& reader : readers_) reader = NewReader();
  }

 private:
  using Env = std::unique_ptr<MDB_env, void (*)(MDB_env*)>;

  // A file that is open for writing, or a folder for reading.
  class File {
   public:
    File(const std::filesystem::path& path, int flags)
        : path_(path), fd_(open(path.c_str(), flags | O_CLOEXEC, 0644)) {
      Require(fd_ >= 0);
    }
    File(const File&) = delete;
    ~File() { close(fd_); }
    int fd() const { return fd_; }
    void Sync() const { Require(fsync(fd_) == 0); }

   private:
    void Require(bool holds) const {
      if (holds) return;
      throw std::system_error(errno, std::generic_category(), path_.string());
    }
    const std::filesystem::path path_;
    const int fd_;
  };

  void Open() {
    MDB_env* env = nullptr;
    Check(mdb_env_create(&env));
    env_.reset(env);
    Check(mdb_env_set_mapsize(env, map_size_));
    Check(mdb_env_set_maxreaders(env, max_readers_));
    Check(mdb_env_open(env, path_.c_str(), flags_, 0644));
    Transaction txn = Begin(env, 0);
    Check(mdb_dbi_open(txn.get(), nullptr, 0, &dbi_));
    Check(mdb_txn_commit(txn.release()));
  }

  Reader NewReader() const {
    Reader reader = Begin(env_.get(), MDB_RDONLY);
    mdb_txn_reset(reader.get());
    return reader;
  }

  // Not by mdb_env_copy2(), which bypasses the page cache where it can: the
  // reads that follow would go to the disk.
  void WriteCopy(const std::filesystem::path& path, bool durable) const {
    const File file(path, O_WRONLY | O_CREAT | O_TRUNC);
    Check(mdb_env_copyfd2(env_.get(), file.fd(), MDB_CP_COMPACT));
    if (durable) file.Sync();
  }
  void SyncFolder() const { File(path_, O_RDONLY | O_DIRECTORY).Sync(); }

  const std::filesystem::path path_;
  const uint64_t map_size_;
  const unsigned flags_;
  const unsigned max_readers_;
  Env env_{nullptr, &mdb_env_close};
  MDB_dbi dbi_ = 0;
  std::mutex mutex_;  // guards readers_, and env_ while it is replaced
  std::list<Reader> readers_;
};

}  // namespace kvmatrix

#endif  // DRIVERS_LMDB_ENVIRONMENT_H_
