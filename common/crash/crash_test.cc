#include "common/crash/crash_test.h"

#include <nlohmann/json.hpp>

#include "common/crash/audit.h"
#include "common/crash/writer.h"
#include "common/timing/barriers.h"

namespace kvmatrix {
namespace {

std::string Line(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

}  // namespace

int RunCrashTest(const Driver& driver, const Config& config,
                 const CrashFlags& flags,
                 const std::function<void(const std::string&)>& print) {
  ConfineSync(config.db);
  if (flags.test == CrashTest::kAudit) {
    print(AuditCrash(driver, config, flags));
    return 0;
  }
  // Most of a commit would be its barrier.
  if (flags.crash_within != 0) SkipSyncs();
  Writer writer(driver, config, flags);
  try {
    writer.Open();
    print(writer.Description());
    writer.Run();
    return 0;
  } catch (const Unsupported& reason) {
    print(Line({{"unsupported", reason.what()}}));
    return kCrashUnsupported;
  } catch (const std::exception& error) {
    print(Line({{"error", error.what()}, {"call", writer.last_call()}}));
    return kCrashFailed;
  }
}

}  // namespace kvmatrix
