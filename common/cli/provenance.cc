#include "common/cli/provenance.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "common/stream/keys.h"
#include "common/stream/values.h"
#include "common/timing/resources.h"

namespace kvmatrix {
namespace {

std::string ObjectOf(const void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  return info.dli_fname;
}

// Parts of the dynamic section of a loaded object.
struct Dynamic {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const uint32_t* gnu_hash = nullptr;
};

Dynamic DynamicOf(const dl_phdr_info& object) {
  Dynamic dynamic;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(
        object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      // An address: on x86, glibc has added the object's base while loading it.
      const auto* target = reinterpret_cast<const char*>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_SYMTAB) {
        dynamic.symbols = reinterpret_cast<const ElfW(Sym)*>(target);
      } else if (entry->d_tag == DT_STRTAB) {
        dynamic.strings = target;
      } else if (entry->d_tag == DT_GNU_HASH) {
        dynamic.gnu_hash = reinterpret_cast<const uint32_t*>(target);
      }
    }
  }
  return dynamic;
}

// True if the object imports the symbol.  The GNU hash table contains only
// exported symbols, which are sorted to the end of the symbol table: word 1 of
// the hash table is the index of the first one, and all symbols before it are
// imports.
bool Imports(const dl_phdr_info& object, const char* symbol) {
  const Dynamic dynamic = DynamicOf(object);
  if (dynamic.symbols == nullptr || dynamic.strings == nullptr ||
      dynamic.gnu_hash == nullptr) {
    return false;
  }
  for (uint32_t i = 1; i < dynamic.gnu_hash[1]; ++i) {
    const char* name = dynamic.strings + dynamic.symbols[i].st_name;
    if (std::strcmp(name, symbol) == 0) return true;
  }
  return false;
}

struct AssertSearch {
  std::string engine_object;
  bool found = false;
};

int VisitObject(dl_phdr_info* object, size_t, void* argument) {
  auto& search = *static_cast<AssertSearch*>(argument);
  const std::string name = object->dlpi_name;
  // The dynamic linker lists the executable under an empty name.
  const bool executable = name.empty();
  if ((executable || name == search.engine_object) &&
      Imports(*object, "__assert_fail")) {
    search.found = true;
  }
  return 0;
}

constexpr uint64_t kProofEntries = 5'000;
constexpr uint64_t kProofBatch = 100;
constexpr size_t kProofKeySize = 16;
constexpr size_t kProofValueSize = 400;

uint64_t DiskBytesWith(const Driver& driver, bool compression, uint64_t entries,
                       const std::filesystem::path& path) {
  std::filesystem::create_directory(path);
  const Values values(1, kProofValueSize, 0.1);
  auto database =
      driver.open({path, 1 << 20, compression, Durability::kBuffered});
  auto session = database->NewSession();
  // Some engines synchronise each write, whatever the durability.
  const uint64_t batch_size =
      std::min(kProofBatch, database->GetLimits().batch_size.max);
  std::vector<KeyBuffer> keys(batch_size, KeyBuffer(kProofKeySize));
  std::vector<std::string> texts(batch_size,
                                 std::string(values.buffer_size(), '\0'));
  std::vector<Update> batch;
  for (uint64_t i = 0; i < entries; ++i) {
    std::string& text = texts[batch.size()];
    values.Write(i, 1, text.data());
    batch.push_back({keys[batch.size()].Set(i),
                     std::string_view(text).substr(0, kProofValueSize)});
    if (batch.size() < batch_size && i + 1 < entries) continue;
    session->Write(batch);
    batch.clear();
  }
  database->Flush();
  // Entries in a log or a memtable are not compressed.
  try {
    database->Compact();
  } catch (const Unsupported&) {
    database->Settle();
  }
  session.reset();
  database.reset();
  return DiskBytes(path);
}

// A directory that is removed with the object.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name =
        std::filesystem::temp_directory_path() / "kvmatrix-proof-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error("cannot create " + name);
    }
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// The space that kProofEntries entries may need: engines take 2 to 12 MiB.
constexpr uint64_t kProofMib = 16;

// Throws std::system_error if the directory has too little space.  Some engines
// abort, or are killed by SIGBUS, when a disk is full.
void RequireSpace(const std::filesystem::path& directory, uint64_t mib) {
  const std::filesystem::path file = directory / "space";
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const int error =
      fd < 0 ? errno : posix_fallocate(fd, 0, static_cast<off_t>(mib << 20));
  if (fd >= 0) close(fd);
  std::filesystem::remove(file);
  if (error == 0) return;
  throw std::system_error(
      error, std::generic_category(),
      "cannot use " + std::to_string(mib) + " MiB in " + directory.string() +
          ", where the codec is tried out; choose another TMPDIR");
}

CodecProof ProveWith(const Driver& driver, uint64_t entries) {
  const TemporaryDirectory directory;
  RequireSpace(directory.path(), kProofMib * entries / kProofEntries);
  const auto disk_bytes = [&](bool compression, const char* name) {
    return DiskBytesWith(driver, compression, entries, directory.path() / name);
  };
  CodecProof proof;
  proof.raw_bytes = entries * (kProofKeySize + kProofValueSize);
  proof.compressed_disk_bytes = disk_bytes(true, "compressed");
  proof.plain_disk_bytes = disk_bytes(false, "plain");
  return proof;
}

}  // namespace

std::string AllocatorInForce() {
  const std::string object = ObjectOf(reinterpret_cast<const void*>(&malloc));
  if (object.find("libc.so") == std::string::npos) return object;
  return std::string("glibc ") + gnu_get_libc_version() + " (" + object + ")";
}

bool HasLiveAssertions(const void* engine_code) {
  AssertSearch search{ObjectOf(engine_code)};
  dl_iterate_phdr(VisitObject, &search);
  return search.found;
}

CodecProof ProveCodec(const Driver& driver) {
  const CodecProof proof = ProveWith(driver, kProofEntries);
  if (*driver.codec == '\0' || Compresses(proof)) return proof;
  return ProveWith(driver, 5 * kProofEntries);  // more than a buffer has
}

bool Compresses(const CodecProof& proof) {
  // Files that are allocated in advance add the same to both.
  return proof.compressed_disk_bytes + proof.raw_bytes / 4 <
         proof.plain_disk_bytes;
}

}  // namespace kvmatrix
