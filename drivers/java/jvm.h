// The Java virtual machine of this process, and what a thread needs to call it.

#ifndef DRIVERS_JAVA_JVM_H_
#define DRIVERS_JAVA_JVM_H_

#include <jni.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace kvmatrix {

// An exception of Java.
class JavaError : public std::runtime_error {
 public:
  JavaError(const std::string& text, bool is_unsupported)
      : std::runtime_error(text), is_unsupported_(is_unsupported) {}
  bool is_unsupported() const { return is_unsupported_; }

 private:
  bool is_unsupported_;  // kvmatrix.Unsupported
};

// Creates the virtual machine on the first call, with a heap of this many bytes
// and these options; later calls ignore both.  Thread-safe.  The machine is
// never destroyed.  Throws std::runtime_error with a remedy if it cannot be
// created.
void StartJvm(uint64_t heap_size, const std::vector<std::string>& options);

// Attaches the calling thread for as long as this object lives.  It is
// destroyed on the same thread; others of that thread may outlive it.
//
// REQUIRES: StartJvm() has returned
class Attachment {
 public:
  Attachment();
  ~Attachment();
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

  JNIEnv* env() const { return env_; }

 private:
  JNIEnv* env_ = nullptr;
};

// The bridge's classes and methods.
struct JavaMethods {
  jclass bridge, channel, string, throwable;
  jmethodID start, open, session, flush, settle, compact, close_database;
  jmethodID settings, counters, explain, is_unsupported;
  jmethodID input, output, get, write, scan;
};

// Looks everything up on the first call and registers `natives` as the native
// methods of Channel.  Throws std::runtime_error if a class is not there.
const JavaMethods& GetJavaMethods(JNIEnv* env,
                                  const std::vector<JNINativeMethod>& natives);
const JavaMethods& GetJavaMethods();  // REQUIRES: the other has returned

// Throws JavaError if an exception is pending, which it clears.
void ThrowPending(JNIEnv* env);
inline void CheckJava(JNIEnv* env) {
  if (env->ExceptionCheck()) [[unlikely]]
    ThrowPending(env);
}

jstring ToJava(JNIEnv* env, const std::string& text);
std::string FromJava(JNIEnv* env, jobject text);

}  // namespace kvmatrix

#endif  // DRIVERS_JAVA_JVM_H_
