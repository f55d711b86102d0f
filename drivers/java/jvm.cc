#include "drivers/java/jvm.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <mutex>

namespace kvmatrix {
namespace {

JavaVM* machine = nullptr;
JavaMethods methods;
thread_local int attachments = 0;

// Restores the signal mask of the thread, which a virtual machine changes.
class SignalMask {
 public:
  SignalMask() { pthread_sigmask(SIG_SETMASK, nullptr, &mask_); }
  ~SignalMask() { pthread_sigmask(SIG_SETMASK, &mask_, nullptr); }
  SignalMask(const SignalMask&) = delete;
  SignalMask& operator=(const SignalMask&) = delete;

 private:
  sigset_t mask_;
};

// Returns the library of the JDK that the plug-in was built with, or else of
// that in $JAVA_HOME.
std::string FindLibrary() {
  std::string path = KVM_LIBJVM;
  if (std::filesystem::exists(path)) return path;
  if (const char* const home = std::getenv("JAVA_HOME"); home && *home) {
    path = std::string(home) + "/lib/server/libjvm.so";
    if (std::filesystem::exists(path)) return path;
  }
  throw std::runtime_error(
      "there is no " + path +
      ", the Java virtual machine; install a JDK of version 17 or later, or "
      "set JAVA_HOME to one");
}

// A machine that has not enough memory for its heap ends the process, so this
// tries to have as much first.
void RequireMemory(uint64_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::runtime_error("the Java virtual machine cannot have a heap of " +
                             std::to_string(bytes) +
                             " bytes; try a smaller --heap_size");
  }
  munmap(memory, bytes);
}

std::string Remedy() {
  std::string remedy = "try another --heap_size";
  for (const char* name : {"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"}) {
    if (std::getenv(name) != nullptr) {
      remedy += std::string(", or unset ") + name;
    }
  }
  return remedy;
}

// Called by a machine that ends the process, which it does if it cannot start.
void Abort() {
  if (machine != nullptr) return;
  std::cerr << "the Java virtual machine cannot be created, for the reason "
               "above: "
            << Remedy() << "\n";
}

JavaVM* Create(uint64_t heap_size, std::vector<std::string> texts) {
  RequireMemory(heap_size);
  for (const char* flag : {"-Xms", "-Xmx"}) {
    texts.push_back(flag + std::to_string(heap_size));
  }
  const std::string path = FindLibrary();
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  const auto create = reinterpret_cast<decltype(&JNI_CreateJavaVM)>(
      dlsym(library, "JNI_CreateJavaVM"));
  if (create == nullptr) throw std::runtime_error(dlerror());
  std::vector<JavaVMOption> options;
  for (const std::string& text : texts) {
    options.push_back({const_cast<char*>(text.c_str()), nullptr});
  }
  options.push_back(
      {const_cast<char*>("abort"), reinterpret_cast<void*>(Abort)});
  JavaVMInitArgs arguments = {.version = JNI_VERSION_10,
                              .nOptions = static_cast<jint>(options.size()),
                              .options = options.data(),
                              .ignoreUnrecognized = JNI_FALSE};
  JavaVM* created = nullptr;
  void* env = nullptr;
  if (const jint error = create(&created, &env, &arguments); error != JNI_OK) {
    throw std::runtime_error("the Java virtual machine of " + path +
                             " cannot be created (error " +
                             std::to_string(error) +
                             "; its reason is on standard error): " + Remedy());
  }
  created->DetachCurrentThread();
  return created;
}

// Looks up methods of one class.
class Lookup {
 public:
  Lookup(JNIEnv* env, const char* name) : env_(env), name_(name) {
    const jclass found = env->FindClass(name);
    if (found == nullptr) Fail();
    type_ = static_cast<jclass>(env->NewGlobalRef(found));
  }

  jclass type() const { return type_; }
  jmethodID Static(const char* name, const char* signature) const {
    const jmethodID id = env_->GetStaticMethodID(type_, name, signature);
    if (id == nullptr) Fail();
    return id;
  }
  jmethodID Method(const char* name, const char* signature) const {
    const jmethodID id = env_->GetMethodID(type_, name, signature);
    if (id == nullptr) Fail();
    return id;
  }

 private:
  [[noreturn]] void Fail() const {
    env_->ExceptionDescribe();
    throw std::runtime_error(
        "the class " + name_ +
        " of the Java bridge is missing or old; build the plug-in again");
  }

  JNIEnv* const env_;
  const std::string name_;
  jclass type_ = nullptr;
};

void LookUpBridge(JNIEnv* env) {
  const Lookup bridge(env, "kvmatrix/Bridge");
  methods.bridge = bridge.type();
  methods.start = bridge.Static("start", "([Ljava/lang/String;)V");
  methods.open =
      bridge.Static("open",
                    "(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;[J"
                    "[Ljava/lang/String;)Lkvmatrix/Bridge;");
  methods.session = bridge.Method("session", "(J)Lkvmatrix/Channel;");
  methods.flush = bridge.Method("flush", "()V");
  methods.settle = bridge.Method("settle", "()V");
  methods.compact = bridge.Method("compact", "()V");
  methods.close_database = bridge.Method("close", "()V");
  methods.settings = bridge.Method("settings", "()Ljava/lang/String;");
  methods.counters = bridge.Method("counters", "()Ljava/lang/String;");
  methods.explain =
      bridge.Static("explain", "(Ljava/lang/Throwable;)Ljava/lang/String;");
  methods.is_unsupported =
      bridge.Static("isUnsupported", "(Ljava/lang/Throwable;)Z");
  methods.string = Lookup(env, "java/lang/String").type();
}

void LookUpChannel(JNIEnv* env, const std::vector<JNINativeMethod>& natives) {
  const Lookup channel(env, "kvmatrix/Channel");
  methods.channel = channel.type();
  methods.input = channel.Method("input", "(Ljava/nio/ByteBuffer;)V");
  methods.output = channel.Method("output", "(Ljava/nio/ByteBuffer;)V");
  methods.get = channel.Method("get", "(I)I");
  methods.write = channel.Method("write", "(I)V");
  methods.scan = channel.Method("scan", "(IZ)V");
  env->RegisterNatives(channel.type(), natives.data(),
                       static_cast<jint>(natives.size()));
}

}  // namespace

void StartJvm(uint64_t heap_size, const std::vector<std::string>& options) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const SignalMask mask;
  if (machine == nullptr) machine = Create(heap_size, options);
}

Attachment::Attachment() {
  void* env = nullptr;
  if (attachments == 0) {
    const SignalMask mask;
    JavaVMAttachArgs arguments = {
        .version = JNI_VERSION_10, .name = nullptr, .group = nullptr};
    if (machine->AttachCurrentThread(&env, &arguments) != JNI_OK) {
      throw std::runtime_error(
          "the Java virtual machine cannot attach a thread");
    }
  } else {
    machine->GetEnv(&env, JNI_VERSION_10);
  }
  ++attachments;
  env_ = static_cast<JNIEnv*>(env);
}

Attachment::~Attachment() {
  const SignalMask mask;
  if (--attachments == 0) machine->DetachCurrentThread();
}

const JavaMethods& GetJavaMethods(JNIEnv* env,
                                  const std::vector<JNINativeMethod>& natives) {
  static std::once_flag once;
  std::call_once(once, [&] {
    LookUpBridge(env);
    LookUpChannel(env, natives);
    CheckJava(env);
  });
  return methods;
}

const JavaMethods& GetJavaMethods() { return methods; }

void ThrowPending(JNIEnv* env) {
  const jthrowable error = env->ExceptionOccurred();
  env->ExceptionClear();
  const jobject text =
      env->CallStaticObjectMethod(methods.bridge, methods.explain, error);
  const bool is_unsupported = env->CallStaticBooleanMethod(
      methods.bridge, methods.is_unsupported, error);
  if (env->ExceptionCheck()) {
    env->ExceptionClear();
    throw JavaError("an exception of Java that cannot be described", false);
  }
  const JavaError thrown(FromJava(env, text), is_unsupported);
  env->DeleteLocalRef(error);
  throw thrown;
}

jstring ToJava(JNIEnv* env, const std::string& text) {
  const jstring result = env->NewStringUTF(text.c_str());
  CheckJava(env);
  return result;
}

std::string FromJava(JNIEnv* env, jobject text) {
  if (text == nullptr) return "";
  const auto string = static_cast<jstring>(text);
  const char* const chars = env->GetStringUTFChars(string, nullptr);
  const std::string result = chars;
  env->ReleaseStringUTFChars(string, chars);
  env->DeleteLocalRef(string);
  return result;
}

}  // namespace kvmatrix
