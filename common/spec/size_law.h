// How the sizes of values are distributed.

#ifndef COMMON_SPEC_SIZE_LAW_H_
#define COMMON_SPEC_SIZE_LAW_H_

#include <cstddef>
#include <optional>
#include <string_view>

namespace kvmatrix {

// Named as db_bench's --value_size_distribution_type names them; it has no
// pareto there.
enum class SizeLaw { kFixed, kUniform, kNormal, kPareto };

std::string_view SizeLawName(SizeLaw law);
std::optional<SizeLaw> FindSizeLaw(std::string_view name);

// The largest value, in bytes.
inline constexpr size_t kLargestValue = size_t{1} << 30;

}  // namespace kvmatrix

#endif  // COMMON_SPEC_SIZE_LAW_H_
