#include "common/mixes/ycsb.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace kvmatrix {
namespace {

struct NamedYcsb {
  std::string_view benchmark;
  YcsbWorkload workload;
};

// In the order of Operation: read, update, insert, scan, read-modify-write.
constexpr NamedYcsb kWorkloads[] = {
    {"ycsba", {{0.5, 0.5}, YcsbRequest::kYcsbZipf}},
    {"ycsbb", {{0.95, 0.05}, YcsbRequest::kYcsbZipf}},
    {"ycsbc", {{1}, YcsbRequest::kYcsbZipf}},
    {"ycsbd", {{0.95, 0, kYcsbInsertShare}, YcsbRequest::kYcsbLatest}},
    {"ycsbe", {{0, 0, kYcsbInsertShare, 0.95}, YcsbRequest::kYcsbZipf}},
    {"ycsbf", {{0.5, 0, 0, 0, 0.5}, YcsbRequest::kYcsbZipf}},
};

// The sum of r^-theta over r = 1..n: the first thousand terms one by one, the
// others by the Euler-Maclaurin formula, whose next term is below 10^-12.
double Zeta(uint64_t n, double theta) {
  const uint64_t few = std::min<uint64_t>(n, 1000);
  double sum = 0;
  for (uint64_t r = few; r > 0; --r) {
    sum += std::pow(static_cast<double>(r), -theta);
  }
  if (n == few) return sum;
  const auto from = static_cast<double>(few);
  const auto to = static_cast<double>(n);
  const auto term = [&](double x) { return std::pow(x, -theta); };
  const auto slope = [&](double x) { return -theta * term(x) / x; };
  return sum + ZipfIntegral(to, theta) - ZipfIntegral(from, theta) +
         (term(to) - term(from)) / 2 + (slope(to) - slope(from)) / 12;
}

}  // namespace

const YcsbWorkload* FindYcsb(std::string_view benchmark) {
  const auto it =
      std::ranges::find(kWorkloads, benchmark, &NamedYcsb::benchmark);
  return it == std::end(kWorkloads) ? nullptr : &it->workload;
}

std::optional<YcsbRequest> RequestOf(const YcsbWorkload& workload,
                                     std::string_view name) {
  const bool latest = workload.request == YcsbRequest::kYcsbLatest;
  if (name.empty()) return workload.request;
  if (name == "uniform") return YcsbRequest::kUniform;
  if (name == "latest") return YcsbRequest::kYcsbLatest;
  if (name == "zipf") {
    return latest ? YcsbRequest::kLatest : YcsbRequest::kZipf;
  }
  if (name == "ycsb-zipf") return workload.request;
  return std::nullopt;
}

std::string_view RequestLabel(YcsbRequest request) {
  // In the order of YcsbRequest.
  constexpr std::string_view kLabels[] = {
      "YCSB-exact zipfian: hashed, of 10^10 items", "true Zipf", "uniform",
      "YCSB-exact latest", "latest by true Zipf"};
  return kLabels[static_cast<size_t>(request)];
}

uint64_t YcsbKeySpace(uint64_t records, uint64_t operations) {
  constexpr uint64_t kFew = 64;  // short runs may insert more than expected
  return records +
         std::max(records, ExpectedInserts(operations, kYcsbInsertShare)) +
         kFew;
}

uint64_t YcsbOrderSeed(uint64_t master_seed) {
  return StreamSeed(master_seed, "ycsb order", 0);
}

YcsbChooser::YcsbChooser(YcsbRequest request, uint64_t records,
                         uint64_t inserts, double theta, uint64_t seed)
    : request_(request),
      // YCSB gives the last of the reserve as an inclusive bound.
      items_(request == YcsbRequest::kUniform    ? records
             : request == YcsbRequest::kYcsbZipf ? records + inserts + 1
                                                 : records + inserts),
      theta_(theta),
      scatter_(items_, seed) {
  if (request == YcsbRequest::kZipf) {
    zipf_.emplace(items_, theta);
    zeta_ = Zeta(items_, theta);
  }
  if (request != YcsbRequest::kYcsbLatest) return;
  zeta_items_ = records - 1;
  zeta_ = Zeta(zeta_items_, YcsbZipf::kTheta);
  second_ = 1 + std::pow(0.5, YcsbZipf::kTheta);
  eta_factor_ =
      1 - std::pow(2 / static_cast<double>(zeta_items_), 1 - YcsbZipf::kTheta);
  eta_ = eta_factor_ / (1 - second_ / zeta_);
}

uint64_t YcsbChooser::NextLatest(Random& random, uint64_t acknowledged) {
  const uint64_t newest = acknowledged - 1;
  if (zeta_items_ < newest) {
    // Only the terms that are new: a sum over all records for each insert would
    // be quadratic.
    while (zeta_items_ < newest) {
      zeta_ += std::pow(static_cast<double>(++zeta_items_), -YcsbZipf::kTheta);
    }
    eta_ = eta_factor_ / (1 - second_ / zeta_);
  }
  const double u = random.Unit();
  if (u * zeta_ < 1) return newest;
  if (u * zeta_ < second_) return newest - 1;
  const double share =
      std::pow(eta_ * u - eta_ + 1, 1 / (1 - YcsbZipf::kTheta));
  return newest - static_cast<uint64_t>(static_cast<double>(newest) * share);
}

uint64_t YcsbChooser::Next(Random& random, uint64_t acknowledged) {
  switch (request_) {
    case YcsbRequest::kUniform:
      return random.Uniform(items_);
    case YcsbRequest::kYcsbLatest:
      return NextLatest(random, acknowledged);
    case YcsbRequest::kLatest:
      // Rebuilt after an insert, which costs about as much as a few draws.
      if (!zipf_ || zipf_->n() != acknowledged) {
        zipf_.emplace(acknowledged, theta_);
      }
      return acknowledged - 1 - (*zipf_)(random);
    default:
      break;
  }
  while (true) {
    const uint64_t ordinal = request_ == YcsbRequest::kZipf
                                 ? scatter_((*zipf_)(random))
                                 : ycsb_zipf_(random, items_);
    if (ordinal < acknowledged) return ordinal;
  }
}

double YcsbChooser::ShareOf(uint64_t rank) const {
  if (request_ == YcsbRequest::kYcsbZipf) {
    return ycsb_zipf_.ShareBelow(rank + 1) - ycsb_zipf_.ShareBelow(rank);
  }
  if (request_ == YcsbRequest::kUniform) {
    return 1 / static_cast<double>(items_);
  }
  return std::pow(static_cast<double>(rank + 1), -theta_) / zeta_;
}

uint64_t YcsbChooser::OrdinalOf(uint64_t rank) const {
  if (request_ == YcsbRequest::kZipf) return scatter_(rank);
  return MergesRanks() ? YcsbZipf::KeyOf(rank, items_) : rank;
}

double YcsbChooser::ShareOfNewest(uint64_t count, uint64_t acknowledged) const {
  if (request_ == YcsbRequest::kLatest) {
    return Zeta(count, theta_) / Zeta(acknowledged, theta_);
  }
  const uint64_t newest = acknowledged - 1;
  const double zeta = Zeta(newest, YcsbZipf::kTheta);
  return GrayZipf(newest, YcsbZipf::kTheta, zeta).ShareBelow(count);
}

uint64_t YcsbInserts::Take() {
  const uint64_t ordinal = next_.fetch_add(1, std::memory_order_relaxed);
  if (ordinal < key_space_) return ordinal;
  throw std::runtime_error(
      "no key is left to insert; raise --num, or run the load with the --reads "
      "and --threads of this benchmark");
}

}  // namespace kvmatrix
