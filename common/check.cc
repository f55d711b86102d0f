#include "common/check.h"

namespace kvmatrix {

std::optional<uint64_t> Check::Visited(std::string_view key,
                                       std::string_view value) {
  const std::optional<uint64_t> index = ParseKey(key, keys_);
  if (!index) {
    Fail("a scan visits a key that was never written:", key);
    return std::nullopt;
  }
  Got(Expect(*index), value);
  return index;
}

void Check::Fail(std::string_view what, std::string_view key) {
  if (failures_++ > 0) return;
  first_failure_ = std::string(what) + " " + std::string(key.substr(0, 40));
}

void Check::DisagreeFirst(const Expected& expected,
                          const std::optional<std::string_view>& value) {
  const auto [key, version, root] = expected;
  const size_t size = oracle_.SizeOf(key, root, values_);
  if (!value) {
    Fail("a key that was written is not found:", KeyText(key));
  } else if (version == 0) {
    Fail("a key that must be absent is found:", KeyText(key));
  } else if (value->size() != size) {
    Fail("a value of " + std::to_string(value->size()) + " bytes instead of " +
             std::to_string(size) + " at key",
         KeyText(key));
  } else {
    Fail("a value differs from version " + std::to_string(version) + " of key",
         KeyText(key));
  }
}

std::string Check::Reason() const {
  if (failures_ <= 1) return first_failure_;
  const uint64_t more = failures_ - 1;
  return first_failure_ + " (and " + std::to_string(more) + " more failure" +
         (more == 1 ? ")" : "s)");
}

std::string Check::KeyText(uint64_t key) {
  KeyBuffer buffer(kKeyDigits);
  return std::string(buffer.Set(key));
}

}  // namespace kvmatrix
