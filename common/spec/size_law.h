// The distributions that value sizes may have.  stream/value_sizes.h draws from
// them.

#ifndef COMMON_SPEC_SIZE_LAW_H_
#define COMMON_SPEC_SIZE_LAW_H_

#include <cstddef>
#include <optional>
#include <string_view>

namespace kvmatrix {

// The first three as in db_bench's --value_size_distribution_type, which has no
// pareto.
enum class SizeLaw { kFixed, kUniform, kNormal, kPareto };

// Returns "fixed", "uniform", "normal" or "pareto"; FindSizeLaw() is its
// inverse and returns nothing for any other name.
std::string_view SizeLawName(SizeLaw law);
std::optional<SizeLaw> FindSizeLaw(std::string_view name);

// The largest value, in bytes.
inline constexpr size_t kLargestValue = size_t{1} << 30;

}  // namespace kvmatrix

#endif  // COMMON_SPEC_SIZE_LAW_H_
