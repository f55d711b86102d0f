// Writes beyond an engine's limits are refused before the first call.

#include "common/run/limits.h"

#include <sys/resource.h>

#include <string>

#include "tests/runner/runner_fixture.h"

namespace kvmatrix {
namespace {

class LimitsTest : public RunnerFixture {
 protected:
  // The memory driver with these limits; counts writes.
  Driver Within(const Limits& limits) {
    Behaviour behaviour;
    behaviour.limits = limits;
    behaviour.write = [this](Session& session, std::span<const Update> batch) {
      ++writes_;
      session.Write(batch);
    };
    return Wrapped(behaviour);
  }

  void ExpectLimit(const Limits& limits, std::string_view name,
                   const std::string& reason) {
    const Measurement m = Run(Within(limits), {name}).front();
    EXPECT_EQ(m.status, Status::kUnsupported) << name;
    EXPECT_EQ(m.reason, reason);
    EXPECT_EQ(writes_, 0u);
  }

  uint64_t writes_ = 0;
};

TEST_F(LimitsTest, AreCheckedBeforeTheFirstWrite) {
  ExpectLimit({.key_size = {15}}, "fillseq",
              "keys of 16 bytes, but the engine accepts at most 15");
  ExpectLimit({.value_size = {99}}, "fillseq",
              "values of 100 bytes, but the engine accepts at most 99");
  ExpectLimit({.value_size = {99'999}}, "fill100K",
              "values of 100000 bytes, but the engine accepts at most 99999");
  ExpectLimit(
      {.batch_size = {1, "it has no batches"}}, "fillseqbatch",
      "batches of 500 updates, but the engine accepts at most 1: it has "
      "no batches");
  config_.value_size_law = SizeLaw::kUniform;
  ExpectLimit({.value_size = {198}}, "fillseq",
              "values of 199 bytes, but the engine accepts at most 198");
}

TEST_F(LimitsTest, MayBeReached) {
  const Limits limits{.key_size = {16}, .value_size = {100}, .batch_size = {1}};
  for (const Measurement& m :
       Run(Within(limits), {"fillseq", "overwrite", "readrandom", "readseq",
                            "readrandomwriterandom", "deleteseq"})) {
    EXPECT_EQ(m.status, Status::kOk) << m.reason;
  }
}

TEST_F(LimitsTest, LeaveTheDatabaseAsItWas) {
  const auto m = Run(Within({.batch_size = {1}}),
                     {"fillseq", "overwritebatch", "verify", "readseq"});
  EXPECT_EQ(m[1].status, Status::kUnsupported);
  EXPECT_EQ(m[2].status, Status::kOk) << m[2].reason;
  EXPECT_EQ(m[3].status, Status::kOk) << m[3].reason;
}

TEST_F(LimitsTest, CountTheBatchOfOneThread) {
  config_.batch_size = 200;
  config_.threads = 5;
  const Limits limits{.batch_size = {100}};
  EXPECT_EQ(Run(Within(limits), {"fillseq"}).front().status, Status::kOk);
  config_.threads = 4;
  EXPECT_EQ(Run(Within(limits), {"fillseq"}).front().status,
            Status::kUnsupported);
}

// Sets a limit, soft alone, while it exists.
class LowLimit {
 public:
  LowLimit(__rlimit_resource resource, rlim_t limit) : resource_(resource) {
    getrlimit(resource, &before_);
    const rlimit low{limit, before_.rlim_max};
    EXPECT_EQ(setrlimit(resource, &low), 0);
  }
  ~LowLimit() { setrlimit(resource_, &before_); }

 private:
  const __rlimit_resource resource_;
  rlimit before_;
};

TEST(ProcessLimits, ExplainTheErrorsThatTheyCause) {
  const LowLimit files(RLIMIT_NOFILE, 256);
  // More than what the address sanitizer maps.
  const LowLimit space(RLIMIT_AS, rlim_t{1} << 46);
  const std::string none = "Permission denied";
  EXPECT_EQ(Explained(none, uint64_t{1} << 47), none);
  EXPECT_EQ(Explained("x: Too many open files", 0),
            "x: Too many open files; the limit of open files is 256 "
            "(ulimit -n)");
  EXPECT_EQ(Explained("Cannot allocate memory", uint64_t{1} << 47),
            "Cannot allocate memory: cannot map 131072 GiB (--map_size); the "
            "limit of address space is 65536 GiB (ulimit -v)");
  EXPECT_EQ(Explained("std::bad_alloc", 1),
            "std::bad_alloc; the limit of address space is 65536 GiB "
            "(ulimit -v)");
  const LowLimit size(RLIMIT_FSIZE, rlim_t{3} << 19);
  for (const std::string error : {"File too large", "disk I/O error"}) {
    EXPECT_EQ(Explained(error, 0),
              error +
                  "; the limit of the size of a file is 1.5 MiB "
                  "(ulimit -f)");
  }
}

TEST(ProcessLimits, ExplainNothingWithoutALimit) {
  EXPECT_EQ(Explained("Cannot allocate memory", 1), "Cannot allocate memory");
}

// A tenth of what the database has is measured, and all of it is right.
TEST_F(LimitsTest, OfTheKeysAreThoseOfTheDatabase) {
  config_.num = 20'000;
  for (const char* fill :
       {"fillseq", "filluniquerandom", "fillrandom", "ycsbload"}) {
    config_.use_existing_db = false;
    config_.after.clear();
    config_.num = 20'000;
    ASSERT_EQ(Run(Wrapped({}), {fill}).front().status, Status::kOk);
    const std::string_view reads =
        std::string_view(fill) == "ycsbload" ? "ycsbc" : "readrandom";
    Measurement m = RunAfter(Wrapped({}), {ParseAfterWord(fill)}, reads);
    EXPECT_EQ(m.status, Status::kOk) << fill << ": " << m.reason;
    config_.num = 2'000;
    m = RunAfter(Wrapped({}), {ParseAfterWord(fill)}, reads);
    EXPECT_NE(m.status, Status::kOk) << fill;
    if (std::string_view(fill) == "fillseq") {
      EXPECT_EQ(m.status, Status::kError);
      EXPECT_NE(m.reason.find("--num"), std::string::npos) << m.reason;
    }
  }
}

}  // namespace
}  // namespace kvmatrix
