// The C++ part of a session, of which Channel.java is the other.
//
// A block of memory carries keys and updates to Java and another one values and
// entries back.  Sizes are 32-bit integers, without alignment:
//
//   get         key                       ->  value
//   write       (key size, value size or -1 for a delete, key, value)...
//   scan        start                     ->  (key size, value size, key,
//                                              value)... for each chunk
//
// So a call costs one crossing, however many keys it has, and a scan one for
// each chunk of 1, 2, 4, ... 64 entries.

#ifndef DRIVERS_JAVA_CHANNEL_H_
#define DRIVERS_JAVA_CHANNEL_H_

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "drivers/java/jvm.h"
#include "drivers/plugins/kvmatrix/driver.h"

namespace kvmatrix {

// Memory that grows, and that Java sees as a direct buffer.
class SharedMemory {
 public:
  char* data() const { return data_.get(); }
  size_t size() const { return size_; }

  // Keeps the contents.  Throws std::length_error above 2 GiB, which is the
  // limit of Java's buffers.
  void Grow(size_t size);

 private:
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  std::unique_ptr<char, Free> data_;
  size_t size_ = 0;
};

// All methods throw JavaError if the engine fails.
class Channel {
 public:
  explicit Channel(jobject bridge);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // The views are valid until the next call.
  std::optional<kvm_bytes> Get(kvm_bytes key);
  void Write(std::span<const kvm_update> updates);
  void Scan(kvm_bytes start, bool is_backward, kvm_visit visit, void* context);

  static std::vector<JNINativeMethod> Natives();

 private:
  static void JNICALL GrowOutput(JNIEnv*, jclass, jlong channel, jlong size);
  static jboolean JNICALL Deliver(JNIEnv*, jclass, jlong channel, jint entries);

  // Makes the input at least this large.
  void Reserve(size_t size) {
    if (size > input_.size()) [[unlikely]]
      Grow(input_, size, methods_.input);
  }
  void Grow(SharedMemory& memory, size_t size, jmethodID tell);
  template <typename... Argument>
  void Call(jmethodID method, Argument... argument) {
    env_->CallNonvirtualVoidMethod(channel_, methods_.channel, method,
                                   argument...);
    CheckJava(env_);
  }

  const Attachment attachment_;
  JNIEnv* const env_;
  const JavaMethods& methods_;
  jobject channel_ = nullptr;
  SharedMemory input_, output_;
  std::vector<kvm_entry> entries_;  // a member to reuse its memory
  kvm_visit visit_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace kvmatrix

#endif  // DRIVERS_JAVA_CHANNEL_H_
