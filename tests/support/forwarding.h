// A session and a database that pass every call on to others.  Engines that
// misbehave in a test derive from them and override what they change.

#ifndef TESTS_SUPPORT_FORWARDING_H_
#define TESTS_SUPPORT_FORWARDING_H_

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "common/driver.h"

namespace kvmatrix {

class ForwardingSession : public Session {
 public:
  explicit ForwardingSession(std::unique_ptr<Session> inner)
      : inner_(std::move(inner)) {}

  void Write(std::span<const Update> batch) override { inner_->Write(batch); }
  std::optional<std::string_view> Get(std::string_view key) override {
    return inner_->Get(key);
  }
  void SetDurable(bool durable) override { inner_->SetDurable(durable); }
  void Scan(std::string_view start, Order order,
            const Visitor& visit) override {
    inner_->Scan(start, order, visit);
  }

 protected:
  Session& inner() { return *inner_; }

 private:
  std::unique_ptr<Session> inner_;
};

class ForwardingDatabase : public Database {
 public:
  explicit ForwardingDatabase(std::unique_ptr<Database> inner)
      : inner_(std::move(inner)) {}

  std::unique_ptr<Session> NewSession() override {
    return inner_->NewSession();
  }
  Limits GetLimits() override { return inner_->GetLimits(); }
  void Flush() override { inner_->Flush(); }
  void Settle() override { inner_->Settle(); }
  void Compact() override { inner_->Compact(); }
  std::map<std::string, std::string> EffectiveSettings() override {
    return inner_->EffectiveSettings();
  }
  std::map<std::string, uint64_t> Counters() override {
    return inner_->Counters();
  }
  void Close() override { inner_->Close(); }

 protected:
  Database& inner() { return *inner_; }

 private:
  std::unique_ptr<Database> inner_;
};

}  // namespace kvmatrix

#endif  // TESTS_SUPPORT_FORWARDING_H_
