#include "drivers/java/channel.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

namespace kvmatrix {
namespace {

constexpr size_t kFirstSize = 4096;
constexpr size_t kMostBytes = std::numeric_limits<int32_t>::max();

void PutSize(char*& to, int32_t size) {
  std::memcpy(to, &size, sizeof(size));
  to += sizeof(size);
}

void PutBytes(char*& to, kvm_bytes bytes) {
  if (bytes.size > 0) std::memcpy(to, bytes.data, bytes.size);
  to += bytes.size;
}

int32_t TakeSize(const char*& from) {
  int32_t size;
  std::memcpy(&size, from, sizeof(size));
  from += sizeof(size);
  return size;
}

kvm_bytes TakeBytes(const char*& from, int32_t size) {
  return {std::exchange(from, from + size), static_cast<size_t>(size)};
}

}  // namespace

void SharedMemory::Grow(size_t size) {
  if (size > kMostBytes) {
    throw std::length_error("more than 2 GiB in one call of a Java engine");
  }
  size = std::min(std::max(size, 2 * size_), kMostBytes);
  char* const grown = static_cast<char*>(std::realloc(data_.get(), size));
  if (grown == nullptr) throw std::bad_alloc();
  static_cast<void>(data_.release());
  data_.reset(grown);
  size_ = size;
}

Channel::Channel(jobject bridge)
    : env_(attachment_.env()), methods_(GetJavaMethods()) {
  const jobject made = env_->CallObjectMethod(bridge, methods_.session,
                                              reinterpret_cast<jlong>(this));
  CheckJava(env_);
  channel_ = env_->NewGlobalRef(made);
  env_->DeleteLocalRef(made);
  Grow(input_, kFirstSize, methods_.input);
  Grow(output_, kFirstSize, methods_.output);
}

Channel::~Channel() {
  if (channel_ != nullptr) env_->DeleteGlobalRef(channel_);
}

void Channel::Grow(SharedMemory& memory, size_t size, jmethodID tell) {
  memory.Grow(size);
  const jobject buffer = env_->NewDirectByteBuffer(
      memory.data(), static_cast<jlong>(memory.size()));
  CheckJava(env_);
  Call(tell, buffer);
  env_->DeleteLocalRef(buffer);
}

std::optional<kvm_bytes> Channel::Get(kvm_bytes key) {
  Reserve(key.size);
  char* to = input_.data();
  PutBytes(to, key);
  const jint size = env_->CallNonvirtualIntMethod(
      channel_, methods_.channel, methods_.get, static_cast<jint>(key.size));
  CheckJava(env_);
  if (size < 0) return std::nullopt;
  return kvm_bytes{output_.data(), static_cast<size_t>(size)};
}

void Channel::Write(std::span<const kvm_update> updates) {
  size_t all = 0;
  for (const kvm_update& update : updates) {
    all += 2 * sizeof(int32_t) + update.key.size + update.value.size;
  }
  Reserve(all);
  char* to = input_.data();
  for (const auto& [key, value, is_delete] : updates) {
    PutSize(to, static_cast<int32_t>(key.size));
    PutSize(to, is_delete ? -1 : static_cast<int32_t>(value.size));
    PutBytes(to, key);
    if (!is_delete) PutBytes(to, value);
  }
  Call(methods_.write, static_cast<jint>(updates.size()));
}

void Channel::Scan(kvm_bytes start, bool is_backward, kvm_visit visit,
                   void* context) {
  Reserve(start.size);
  char* to = input_.data();
  PutBytes(to, start);
  visit_ = visit;
  context_ = context;
  Call(methods_.scan, static_cast<jint>(start.size),
       static_cast<jboolean>(is_backward));
}

std::vector<JNINativeMethod> Channel::Natives() {
  const auto method = [](const char* name, const char* signature,
                         void* function) {
    return JNINativeMethod{const_cast<char*>(name),
                           const_cast<char*>(signature), function};
  };
  return {method("grow", "(JJ)V", reinterpret_cast<void*>(GrowOutput)),
          method("deliver", "(JI)Z", reinterpret_cast<void*>(Deliver))};
}

void JNICALL Channel::GrowOutput(JNIEnv* env, jclass, jlong address,
                                 jlong size) try {
  auto& channel = *reinterpret_cast<Channel*>(address);
  channel.Grow(channel.output_, static_cast<size_t>(size),
               channel.methods_.output);
} catch (const std::exception& error) {
  env->ThrowNew(env->FindClass("java/lang/OutOfMemoryError"), error.what());
}

jboolean JNICALL Channel::Deliver(JNIEnv*, jclass, jlong address,
                                  jint entries) {
  auto& channel = *reinterpret_cast<Channel*>(address);
  channel.entries_.resize(static_cast<size_t>(entries));
  const char* from = channel.output_.data();
  for (auto& [key, value] : channel.entries_) {
    const int32_t key_size = TakeSize(from);
    const int32_t value_size = TakeSize(from);
    key = TakeBytes(from, key_size);
    value = TakeBytes(from, value_size);
  }
  return channel.visit_(channel.context_, channel.entries_.data(),
                        channel.entries_.size()) != 0;
}

}  // namespace kvmatrix
