// The flags of the mixes alone: YCSB's and mixgraph's, under their own names.

#ifndef COMMON_MIX_FLAGS_H_
#define COMMON_MIX_FLAGS_H_

#include "common/mixgraph.h"

namespace kvmatrix {

struct MixFlags {
  // An update of YCSB writes a whole record and reads nothing; else it writes
  // one field of ten, which a store of whole values must read first.
  bool writeallfields = false;
  MixgraphParameters mixgraph;
};

// As the command line has them.  Throws UsageError.
MixFlags MixFlagsFromCommandLine();

}  // namespace kvmatrix

#endif  // COMMON_MIX_FLAGS_H_
