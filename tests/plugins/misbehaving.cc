// The reference as a plug-in that breaks the rule which the environment
// variable KVM_MISBEHAVIOUR names; without one it is well-behaved.

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>

#define kvm_driver_get well_behaved
#include "drivers/plugins/export.cc"
#undef kvm_driver_get

namespace {

kvm_driver driver;  // the honest one, changed
kvm_driver honest;

kvm_status OpenAndPrint(const kvm_options* options, void** database,
                        kvm_error* error) {
  std::puts("hello from the engine");
  return honest.open(options, database, error);
}

kvm_status OpenAndLeaveAThread(const kvm_options* options, void** database,
                               kvm_error* error) {
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::hours(1));
  }).detach();
  return honest.open(options, database, error);
}

kvm_status SettleAndBlockSignals(void* database, kvm_error* error) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  return honest.settle(database, error);
}

kvm_status FailToClose(void* database, kvm_error* error) {
  honest.close(database, error);
  std::strcpy(error->text, "the last page could not be written");
  return KVM_FAILED;
}

kvm_status CrashInGet(void*, kvm_bytes, kvm_bytes*, kvm_error*) {
  raise(SIGSEGV);
  return KVM_ABSENT;
}

kvm_status ThrowInGet(void*, kvm_bytes, kvm_bytes*, kvm_error*) {
  throw std::runtime_error("block 7 is corrupt");
}

kvm_status ThrowANumberInGet(void*, kvm_bytes, kvm_bytes*, kvm_error*) {
  throw 42;
}

kvm_status FailInGet(void*, kvm_bytes, kvm_bytes*, kvm_error*) {
  return KVM_FAILED;
}

kvm_status AnswerOddlyInGet(void*, kvm_bytes, kvm_bytes*, kvm_error*) {
  return static_cast<kvm_status>(99);
}

pid_t loader;  // the process that has loaded the plug-in

// Calls a function of the honest driver, but crashes in a forked process, where
// those of a language with threads of its own may wait for ever.
template <auto kFunction, typename Type>
struct Unforked;
template <auto kFunction, typename Result, typename... Argument>
struct Unforked<kFunction, Result (*)(Argument...)> {
  static Result Call(Argument... argument) {
    if (getpid() != loader) raise(SIGSEGV);
    return (honest.*kFunction)(argument...);
  }
};

template <auto kFunction>
void ForbidInForked() {
  using Type = std::remove_reference_t<decltype(driver.*kFunction)>;
  if (honest.*kFunction != nullptr) {
    driver.*kFunction = Unforked<kFunction, Type>::Call;
  }
}

void CrashWhenForked() {
  loader = getpid();
  ForbidInForked<&kvm_driver::version>();
  ForbidInForked<&kvm_driver::guarantees>();
  ForbidInForked<&kvm_driver::close>();
  ForbidInForked<&kvm_driver::limits>();
  ForbidInForked<&kvm_driver::flush>();
  ForbidInForked<&kvm_driver::settle>();
  ForbidInForked<&kvm_driver::settings>();
  ForbidInForked<&kvm_driver::counters>();
  ForbidInForked<&kvm_driver::session>();
  ForbidInForked<&kvm_driver::end>();
  ForbidInForked<&kvm_driver::get>();
}

void PromiseNothing(const char* const*, kvm_guarantee*) {}

const kvm_flag kOddFlag[] = {{"level", "int", "3", "a level"}};
const kvm_flag kSpacedFlag[] = {{"le vel", "uint64", "3", "a level"}};
const kvm_flag kOddDefault[] = {{"level", "uint64", "three", "a level"}};
const kvm_flag kTakenFlag[] = {{"num", "uint64", "3", "a number"}};
const kvm_flag kDriverFlag[] = {{"driver", "string", "", "a driver"}};
const kvm_flag kDuetFlag[] = {{"duet", "string", "", "a driver"}};
const kvm_flag kCrashFlag[] = {{"crash_test", "string", "", "a test"}};
const kvm_flag kTraceFlag[] = {{"trace", "string", "", "a file"}};
const kvm_flag kActionFlag[] = {{"check", "bool", "false", "an action"}};
const kvm_flag kNegatedFlag[] = {{"nosync", "bool", "false", "not a word"}};
const kvm_flag kEmptyFlag[] = {{"", "uint64", "3", "a level"}};
const kvm_flag kDigitFlag[] = {{"2level", "uint64", "3", "a level"}};

constexpr char kLongName[] =
    "0123456789012345678901234567890123456789012345678901234567890123x";

void SetFlags(const kvm_flag* flags) {
  driver.flags = flags;
  driver.flag_count = 1;
}

const std::map<std::string, void (*)()> kMisbehaviours = {
    {"older", [] { driver.abi = KVM_ABI - 1; }},
    {"incomplete", [] { driver.get = nullptr; }},
    {"nameless", [] { driver.name = ""; }},
    {"smaller", [] { driver.size = offsetof(kvm_driver, unused); }},
    {"larger", [] { driver.size += 64; }},
    {"earlier", [] { driver.unused = reinterpret_cast<void*>(CrashInGet); }},
    {"odd-flag", [] { SetFlags(kOddFlag); }},
    {"spaced-flag", [] { SetFlags(kSpacedFlag); }},
    {"odd-default", [] { SetFlags(kOddDefault); }},
    {"taken-flag", [] { SetFlags(kTakenFlag); }},
    {"driver-flag", [] { SetFlags(kDriverFlag); }},
    {"duet-flag", [] { SetFlags(kDuetFlag); }},
    {"crash-flag", [] { SetFlags(kCrashFlag); }},
    {"trace-flag", [] { SetFlags(kTraceFlag); }},
    {"action-flag", [] { SetFlags(kActionFlag); }},
    {"negated-flag", [] { SetFlags(kNegatedFlag); }},
    {"empty-flag", [] { SetFlags(kEmptyFlag); }},
    {"digit-flag", [] { SetFlags(kDigitFlag); }},
    {"named-as-a-path", [] { driver.name = "../../x"; }},
    {"named-as-an-option", [] { driver.name = "-x"; }},
    {"named-at-length", [] { driver.name = kLongName; }},
    {"throws-when-loaded", [] { throw std::runtime_error("no licence"); }},
    {"crashes-when-loaded", [] { raise(SIGSEGV); }},
    {"promises-nothing", [] { driver.guarantees = PromiseNothing; }},
    {"prints", [] { driver.open = OpenAndPrint; }},
    {"leaves-a-thread", [] { driver.open = OpenAndLeaveAThread; }},
    {"blocks-signals", [] { driver.settle = SettleAndBlockSignals; }},
    {"fails-to-close", [] { driver.close = FailToClose; }},
    {"crashes", [] { driver.get = CrashInGet; }},
    {"throws", [] { driver.get = ThrowInGet; }},
    {"throws-a-number", [] { driver.get = ThrowANumberInGet; }},
    {"fails-silently", [] { driver.get = FailInGet; }},
    {"answers-oddly", [] { driver.get = AnswerOddlyInGet; }},
    {"crashes-when-forked", CrashWhenForked},
};

}  // namespace

extern "C" [[gnu::visibility("default")]] const kvm_driver* kvm_driver_get(
    uint32_t abi) {
  driver = honest = *well_behaved(abi);
  const char* const name = getenv("KVM_MISBEHAVIOUR");
  if (name == nullptr) return &driver;
  if (std::string(name) == "newer") return nullptr;
  kMisbehaviours.at(name)();
  return &driver;
}
