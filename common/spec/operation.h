// Types of operations of a mix: a benchmark in which the type of each operation
// is drawn at random.
//
// Plain data and pure functions: thread-safe.

#ifndef COMMON_SPEC_OPERATION_H_
#define COMMON_SPEC_OPERATION_H_

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace kvmatrix {

// The first five have the names of YCSB, the next three those of mixgraph.
// Results name them by OperationName(), so the names are an interface.
enum class Operation {
  kRead,             // get
  kUpdate,           // get and put, or a blind put; see Mix::UpdatesGet()
  kInsert,           // put a key that was never present
  kScan,             // forward from a key
  kReadModifyWrite,  // get, then put
  kGet,
  kPut,          // blind
  kSeek,         // a scan
  kMissing,      // get a key that was never present: it lacks its last byte
  kDelete,       // of a key that may be absent
  kScanReverse,  // backward from a key
};
// The number of types; an Operation is an index below it.
inline constexpr size_t kOperations = 11;

// The share of each Operation, which is the index; not negative, with sum 1.
// Also counts of operations by type, where a function says so.
using Weights = std::array<double, kOperations>;

// Returns the name in results, such as "readmodifywrite".  Valid forever.
std::string_view OperationName(Operation operation);

// The types of which --mix_shares may name a share, in the order of messages.
inline constexpr std::array kMixTypes = {
    Operation::kRead,        Operation::kMissing, Operation::kScan,
    Operation::kScanReverse, Operation::kUpdate,  Operation::kReadModifyWrite,
    Operation::kInsert,      Operation::kDelete};

// Returns the shares of a list of NAME:PERCENT, such as "read:95,update:5".
// Throws std::invalid_argument, which says what is wrong, for a name that is
// not one of kMixTypes or occurs twice, a percentage that is not a positive
// number, and percentages that do not add up to 100.
Weights ParseShares(std::string_view text);

// Returns the shares for people, such as "95 % read, 5 % update".
std::string SharesText(const Weights& shares);

}  // namespace kvmatrix

#endif  // COMMON_SPEC_OPERATION_H_
