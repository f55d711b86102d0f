// A plug-in whose engine is a class of Java.  Compiled with the definition of
// kEngine, it exports kvm_driver_get().

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "drivers/java/channel.h"
#include "drivers/java/engine_facts.h"
#include "drivers/java/jvm.h"

namespace kvmatrix {
namespace {

constexpr uint32_t kOfEveryMachine = KVM_KEEPS_THREADS | KVM_COMPILES_LATE;

struct Database {
  jobject bridge;  // a global reference
};

Database& DatabaseOf(void* p) { return *static_cast<Database*>(p); }
Channel& ChannelOf(void* p) { return *static_cast<Channel*>(p); }

void Explain(kvm_error* error, const char* text) {
  std::strncpy(error->text, text, sizeof(error->text) - 1);
  error->text[sizeof(error->text) - 1] = '\0';
}

// Calls `function`, which returns a status, and turns exceptions into one.
template <typename Function>
kvm_status Answer(kvm_error* error, Function function) {
  try {
    return function();
  } catch (const JavaError& problem) {
    Explain(error, problem.what());
    return problem.is_unsupported() ? KVM_UNSUPPORTED : KVM_FAILED;
  } catch (const std::exception& problem) {
    Explain(error, problem.what());
    return KVM_FAILED;
  }
}

// The options of every virtual machine, fixed so that results can be compared.
// -Xrs leaves signals alone that end the process; nothing is written to
// standard output.
constexpr const char* kJvmOptions[] = {"-XX:+UseSerialGC",
                                       "-XX:-UsePerfData",
                                       "-Xrs",
                                       "-Xlog:disable",
                                       "-Xlog:all=warning:stderr",
                                       "-XX:+DisplayVMOutputToStderr",
                                       "-XX:+ErrorFileToStderr"};

std::vector<std::string> JvmOptions() {
  std::vector<std::string> options(std::begin(kJvmOptions),
                                   std::end(kJvmOptions));
  options.push_back(std::string("-Djava.class.path=") + kEngine.class_path);
  options.push_back(std::string("-Djava.library.path=") + kEngine.library_path);
  return options;
}

jobjectArray Strings(JNIEnv* env, const std::vector<std::string>& texts) {
  const jobjectArray array = env->NewObjectArray(
      static_cast<jsize>(texts.size()), GetJavaMethods().string, nullptr);
  CheckJava(env);
  for (size_t i = 0; i < texts.size(); ++i) {
    env->SetObjectArrayElement(array, static_cast<jsize>(i),
                               ToJava(env, texts[i]));
  }
  return array;
}

// Frees the local references that a call makes: the thread may stay attached.
class LocalFrame {
 public:
  explicit LocalFrame(JNIEnv* env) : env_(env) {
    if (env->PushLocalFrame(64) != 0) CheckJava(env);
  }
  ~LocalFrame() { env_->PopLocalFrame(nullptr); }
  LocalFrame(const LocalFrame&) = delete;
  LocalFrame& operator=(const LocalFrame&) = delete;

 private:
  JNIEnv* const env_;
};

void Start(JNIEnv* env) {
  const JavaMethods& java = GetJavaMethods(env, Channel::Natives());
  std::vector<std::string> jars;
  for (auto jar = kEngine.jars; *jar; ++jar) jars.push_back(*jar);
  env->CallStaticVoidMethod(java.bridge, java.start, Strings(env, jars));
  CheckJava(env);
}

jobject OpenEngine(JNIEnv* env, const kvm_options& o) {
  const jlong numbers[] = {
      static_cast<jlong>(o.cache_size),       static_cast<jlong>(o.compression),
      static_cast<jlong>(o.durability),       static_cast<jlong>(o.threads),
      static_cast<jlong>(o.expected_entries), static_cast<jlong>(o.key_size),
      static_cast<jlong>(o.value_size)};
  const jsize count = std::size(numbers);
  const jlongArray array = env->NewLongArray(count);
  CheckJava(env);
  env->SetLongArrayRegion(array, 0, count, numbers);
  std::vector<std::string> flags;
  for (size_t i = 0; i < kEngine.flag_count; ++i) {
    flags.insert(flags.end(), {kEngine.flags[i].name, o.flags[i]});
  }
  const JavaMethods& java = GetJavaMethods();
  const jobject opened = env->CallStaticObjectMethod(
      java.bridge, java.open, ToJava(env, kEngine.class_name),
      ToJava(env, kEngine.version), ToJava(env, o.path), array,
      Strings(env, flags));
  CheckJava(env);
  return env->NewGlobalRef(opened);
}

kvm_status Open(const kvm_options* o, void** database, kvm_error* error) {
  return Answer(error, [&] {
    StartJvm(std::stoull(o->flags[kEngine.flag_count - 1]), JvmOptions());
    const Attachment attachment;
    const LocalFrame frame(attachment.env());
    Start(attachment.env());
    *database = new Database{OpenEngine(attachment.env(), *o)};
    return KVM_OK;
  });
}

// Makes a call without arguments on a database.
template <jmethodID JavaMethods::* kMethod>
kvm_status Make(void* database, kvm_error* error) {
  return Answer(error, [&] {
    const Attachment attachment;
    attachment.env()->CallVoidMethod(DatabaseOf(database).bridge,
                                     GetJavaMethods().*kMethod);
    CheckJava(attachment.env());
    return KVM_OK;
  });
}

uint64_t CpuNs() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

// Waits until no thread does anything.  The virtual machine compiles what has
// run in threads of its own, and cannot say whether it has finished.
void AwaitCompiler() {
  constexpr int kQuiet = 3;  // pauses in a row
  constexpr std::chrono::milliseconds kPause(10);
  constexpr uint64_t kBusyNs = 500'000;
  for (int quiet = 0; quiet < kQuiet;) {
    const uint64_t before = CpuNs();
    std::this_thread::sleep_for(kPause);
    quiet = CpuNs() - before < kBusyNs ? quiet + 1 : 0;
  }
}

kvm_status Settle(void* database, kvm_error* error) {
  const kvm_status status = Make<&JavaMethods::settle>(database, error);
  if (status == KVM_OK) AwaitCompiler();
  return status;
}

kvm_status Close(void* p, kvm_error* error) {
  const std::unique_ptr<Database> database(&DatabaseOf(p));
  const kvm_status status = Make<&JavaMethods::close_database>(p, error);
  Attachment().env()->DeleteGlobalRef(database->bridge);
  return status;
}

// Returns what a method without arguments returns as lines, or one line about
// why it could not.
std::string Lines(void* database, jmethodID method) try {
  const Attachment attachment;
  JNIEnv* const env = attachment.env();
  const jobject lines =
      env->CallObjectMethod(DatabaseOf(database).bridge, method);
  CheckJava(env);
  return FromJava(env, lines);
} catch (const std::exception& error) {
  return std::string("error=") + error.what() + "\n";
}

size_t WriteText(const std::string& all, char* text, size_t room) {
  std::memcpy(text, all.data(), std::min(room, all.size()));
  return all.size();
}

size_t Settings(void* database, char* text, size_t room) {
  std::string all = Lines(database, GetJavaMethods().settings) + "java_flags=";
  for (const char* option : kJvmOptions) all += option + std::string(" ");
  for (const char* name : {"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"}) {
    if (const char* const more = std::getenv(name)) all += more;
  }
  return WriteText(all + "\n", text, room);
}

size_t Counters(void* database, char* text, size_t room) {
  return WriteText(Lines(database, GetJavaMethods().counters), text, room);
}

void Limits(void*, kvm_limits* limits) {
  limits->batch_size = kEngine.most_updates;
}

kvm_status NewSession(void* database, void** session, kvm_error* error) {
  return Answer(error, [&] {
    *session = new Channel(DatabaseOf(database).bridge);
    return KVM_OK;
  });
}

void End(void* session) { delete &ChannelOf(session); }

kvm_status Write(void* session, const kvm_update* updates, size_t n,
                 kvm_error* error) {
  return Answer(error, [&] {
    ChannelOf(session).Write({updates, n});
    return KVM_OK;
  });
}

kvm_status Get(void* session, kvm_bytes key, kvm_bytes* value,
               kvm_error* error) {
  return Answer(error, [&] {
    const auto found = ChannelOf(session).Get(key);
    if (!found) return KVM_ABSENT;
    *value = *found;
    return KVM_OK;
  });
}

kvm_status Scan(void* session, kvm_bytes start, int backward, kvm_visit visit,
                void* context, kvm_error* error) {
  return Answer(error, [&] {
    ChannelOf(session).Scan(start, backward != 0, visit, context);
    return KVM_OK;
  });
}

const char* Version() { return kEngine.version; }

void GetGuarantees(const char* const*, kvm_guarantee result[3]) {
  std::ranges::copy(kEngine.guarantees, result);
}

kvm_driver Describe() {
  kvm_driver driver = {};
  driver.abi = KVM_ABI;
  driver.size = sizeof(driver);
  driver.name = kEngine.name;
  driver.licence = kEngine.licence;
  driver.codec = kEngine.codec;
  driver.origin = kEngine.origin;
  driver.origin_sha256 = kEngine.origin_sha256;
  driver.scans = kEngine.scans;
  driver.properties =
      kOfEveryMachine | (kEngine.stores ? 0 : KVM_STORES_NOTHING);
  driver.flags = kEngine.flags;
  driver.flag_count = kEngine.flag_count;
  driver.version = Version;
  driver.guarantees = GetGuarantees;
  driver.open = Open;
  driver.close = Close;
  driver.limits = Limits;
  driver.flush = Make<&JavaMethods::flush>;
  driver.settle = Settle;
  driver.compact = Make<&JavaMethods::compact>;
  driver.settings = Settings;
  driver.counters = Counters;
  driver.session = NewSession;
  driver.end = End;
  driver.write = Write;
  driver.get = Get;
  driver.scan = Scan;
  return driver;
}

}  // namespace
}  // namespace kvmatrix

extern "C" __attribute__((visibility("default"))) const kvm_driver*
kvm_driver_get(uint32_t abi) {
  static const kvm_driver driver = kvmatrix::Describe();
  return abi == KVM_ABI ? &driver : nullptr;
}
