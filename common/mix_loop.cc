#include <stdexcept>

#include "common/workload.h"

namespace kvmatrix {

LoopResult RunMix(const Workload& workload, Session&) {
  throw std::runtime_error("no mix is called " +
                           std::string(workload.benchmark.name));
}

}  // namespace kvmatrix
