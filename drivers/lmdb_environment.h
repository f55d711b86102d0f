// An LMDB environment that can be replaced while sessions exist, for lmdb.cc.
// A failure is thrown as std::runtime_error with LMDB's own message.
//
//   Environment environment(path, flags, readers);
//   Environment::Reader& reader = environment.AddReader();  // in a session
//   mdb_get(environment.Newest(reader), environment.dbi(), ...)
//   reader.Release();       // before a write
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

// A session's read transaction.  It keeps its slot, and holds a snapshot from
// Renew() to Release().
class Reader {
 public:
  Reader() = default;  // of no environment
  explicit Reader(MDB_env* env) : txn_(Begin(env, MDB_RDONLY)) {
    mdb_txn_reset(txn_.get());
  }
  bool holds() const { return holds_; }
  size_t id() const { return mdb_txn_id(txn_.get()); }
  MDB_txn* get() const { return txn_.get(); }

  // Moves to the newest snapshot.
  void Renew() {
    Release();
    Check(mdb_txn_renew(txn_.get()));
    holds_ = true;
  }
  void Release() {
    mdb_txn_reset(txn_.get());
    holds_ = false;
  }

 private:
  Transaction txn_{nullptr, &mdb_txn_abort};
  bool holds_ = false;
};

// AddReader() and RemoveReader() are thread-safe.  Rewrite() is called while no
// other thread uses get(), dbi() or a reader.
class Environment {
 public:
  // Opens the database in the directory, with one table.  With `hold`, a reader
  // keeps its snapshot as long as that is the newest one.
  Environment(std::filesystem::path path, uint64_t map_size, unsigned flags,
              unsigned readers, bool hold)
      : path_(std::move(path)),
        map_size_(map_size),
        opened_with_(flags | MDB_NOTLS),
        flags_(opened_with_),
        max_readers_(readers),
        hold_(hold) {
    Open();
  }

  MDB_env* get() const { return env_.get(); }
  unsigned flags() const { return flags_; }
  MDB_dbi dbi() const { return dbi_; }

  // Makes later commits of all sessions durable, or again as the environment
  // was opened.  Not thread-safe.
  void SetDurable(bool durable) {
    constexpr unsigned kAny = MDB_NOSYNC | MDB_NOMETASYNC | MDB_MAPASYNC;
    const unsigned on = durable ? 0u : opened_with_ & kAny;
    Check(mdb_env_set_flags(env_.get(), kAny & ~on, 0));
    Check(mdb_env_set_flags(env_.get(), on, 1));
    flags_ = (opened_with_ & ~kAny) | on;
  }

  // Returns the transaction of the reader, which sees every write that was
  // acknowledged before the call.
  MDB_txn* Newest(Reader& reader) const {
    if (!hold_ || !reader.holds() || reader.id() != LastCommit())
      reader.Renew();
    return reader.get();
  }

  // The reader stays at its address until it is removed.
  Reader& AddReader() {
    const std::lock_guard lock(mutex_);
    readers_.emplace_back(env_.get());
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
    for (Reader& reader : readers_) reader = Reader();
    env_.reset();
    std::filesystem::rename(copy, path_ / "data.mdb");
    if (durable) SyncFolder();
    Open();
    for (Reader& reader : readers_) reader = Reader(env_.get());
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

  // Returns the number of the last transaction that was committed.
  size_t LastCommit() const {
    MDB_envinfo info;
    Check(mdb_env_info(env_.get(), &info));
    return info.me_last_txnid;
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
  const unsigned opened_with_;
  unsigned flags_;  // in force
  const unsigned max_readers_;
  const bool hold_;
  Env env_{nullptr, &mdb_env_close};
  MDB_dbi dbi_ = 0;
  std::mutex mutex_;  // guards readers_, and env_ while it is replaced
  std::list<Reader> readers_;
};

}  // namespace kvmatrix

#endif  // DRIVERS_LMDB_ENVIRONMENT_H_
