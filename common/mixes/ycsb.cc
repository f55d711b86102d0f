#include "common/mixes/ycsb.h"

#include <algorithm>
#include <cmath>
#include <iterator>

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

struct NamedRequest {
  std::string_view name;
  YcsbRequest request;
};

// The values of --key_distribution that YCSB's workloads accept.  Those that
// follow the records inserted in the run come first.
constexpr NamedRequest kRequests[] = {
    {"ycsb-zipf", YcsbRequest::kYcsbZipf},
    {"zipf", YcsbRequest::kZipf},
    {"ycsb-latest", YcsbRequest::kYcsbLatest},
    {"latest", YcsbRequest::kLatest},
    {"exponential", YcsbRequest::kExponential},
    {"hotspot", YcsbRequest::kHotspot},
    {"uniform", YcsbRequest::kUniform},
};
constexpr size_t kGrowing = 5;

const NamedRequest* FindRequest(std::string_view name) {
  const auto it = std::ranges::find(kRequests, name, &NamedRequest::name);
  return it == std::end(kRequests) ? nullptr : it;
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
  if (name.empty() || (latest && name == "ycsb-zipf")) return workload.request;
  if (name == "latest") return YcsbRequest::kYcsbLatest;
  if (latest && name == "zipf") return YcsbRequest::kLatest;
  const NamedRequest* request = FindRequest(name);
  if (request == nullptr) return std::nullopt;
  return request->request;
}

std::string YcsbRequestNames() {
  std::string names;
  for (const NamedRequest& request : kRequests) {
    names += (names.empty() ? "" : ", ") + std::string(request.name);
  }
  return names;
}

std::optional<YcsbRequest> FindGrowing(std::string_view name) {
  const NamedRequest* request = FindRequest(name);
  if (request == nullptr || request >= kRequests + kGrowing) {
    return std::nullopt;
  }
  return request->request;
}

std::string_view RequestLabel(YcsbRequest request) {
  // In the order of YcsbRequest.
  constexpr std::string_view kLabels[] = {
      "YCSB-exact zipfian: hashed, of 10^10 items",
      "true Zipf",
      "uniform",
      "YCSB-exact latest",
      "latest by true Zipf",
      "hot spot",
      "exponential: the newest most often"};
  return kLabels[static_cast<size_t>(request)];
}

YcsbChooser::YcsbChooser(YcsbRequest request, uint64_t records,
                         uint64_t inserts, const KeyDraw& draw)
    : request_(request),
      draw_(draw),
      // YCSB gives the last of the reserve as an inclusive bound.
      items_(records + (IsZipf() ? std::min(inserts, records) : 0) +
             (MergesRanks() ? 1 : 0)),
      present_(records),
      hotspot_(records, draw.hotspot),
      exponential_(records, draw.exponential) {
  if (request == YcsbRequest::kZipf) Zipfian();
  if (request == YcsbRequest::kLatest) {
    zipf_.emplace(records, draw.zipf_theta);
    zeta_items_ = records;
    zeta_ = Zeta(records, draw.zipf_theta);
  }
  if (request != YcsbRequest::kYcsbLatest) return;
  first_items_ = zeta_items_ = records - 1;
  zeta_ = Zeta(zeta_items_, YcsbZipf::kTheta);
  second_ = 1 + std::pow(0.5, YcsbZipf::kTheta);
  eta_factor_ =
      1 - std::pow(2 / static_cast<double>(zeta_items_), 1 - YcsbZipf::kTheta);
  eta_ = eta_factor_ / (1 - second_ / zeta_);
}

// The true law over items_, whose ranks are scattered.
void YcsbChooser::Zipfian() {
  zipf_.emplace(items_, draw_.zipf_theta);
  scatter_.emplace(items_, draw_.scatter_seed);
  zeta_ = Zeta(items_, draw_.zipf_theta);
}

// Only the terms that are new: a sum over all records for each insert would be
// quadratic.
void YcsbChooser::GrowTo(uint64_t acknowledged) {
  if (acknowledged == present_) return;
  present_ = acknowledged;
  if (IsZipf()) {
    if (items_ >= present_) return;
    while (items_ < present_) items_ *= 2;
    if (request_ == YcsbRequest::kZipf) Zipfian();
  } else if (request_ == YcsbRequest::kLatest) {
    // This costs about as much as a few draws.
    zipf_.emplace(present_, draw_.zipf_theta);
    while (zeta_items_ < present_) {
      zeta_ += std::pow(static_cast<double>(++zeta_items_), -draw_.zipf_theta);
    }
  } else if (request_ == YcsbRequest::kYcsbLatest) {
    while (zeta_items_ < present_ - 1) {
      zeta_ += std::pow(static_cast<double>(++zeta_items_), -YcsbZipf::kTheta);
    }
    eta_ = eta_factor_ / (1 - second_ / zeta_);
  }
}

uint64_t YcsbChooser::NextLatest(Random& random) {
  const uint64_t newest = present_ - 1;
  const double u = random.Unit();
  if (u * zeta_ < 1) return newest;
  if (u * zeta_ < second_) return newest - 1;
  const double share =
      std::pow(eta_ * u - eta_ + 1, 1 / (1 - YcsbZipf::kTheta));
  return newest - static_cast<uint64_t>(static_cast<double>(newest) * share);
}

uint64_t YcsbChooser::Next(Random& random, uint64_t acknowledged) {
  GrowTo(acknowledged);
  switch (request_) {
    case YcsbRequest::kUniform:
      return random.Uniform(items_);
    case YcsbRequest::kHotspot:
      return hotspot_(random);
    case YcsbRequest::kYcsbLatest:
      return NextLatest(random);
    case YcsbRequest::kLatest:
      return present_ - 1 - (*zipf_)(random);
    case YcsbRequest::kExponential:
      return present_ - 1 - exponential_.Age(random, present_);
    default:
      break;
  }
  while (true) {
    const uint64_t ordinal = request_ == YcsbRequest::kZipf
                                 ? (*scatter_)((*zipf_)(random))
                                 : ycsb_zipf_(random, items_);
    if (ordinal < present_) return ordinal;
  }
}

double YcsbChooser::ShareOf(uint64_t rank) const {
  if (MergesRanks()) {
    return ycsb_zipf_.ShareBelow(rank + 1) - ycsb_zipf_.ShareBelow(rank);
  }
  return std::pow(static_cast<double>(rank + 1), -draw_.zipf_theta) / zeta_;
}

uint64_t YcsbChooser::OrdinalOf(uint64_t rank) const {
  return MergesRanks() ? YcsbZipf::KeyOf(rank, items_) : (*scatter_)(rank);
}

double YcsbChooser::ShareOfNewest(uint64_t count) const {
  if (request_ == YcsbRequest::kExponential) {
    return exponential_.ShareOfNewest(count) /
           exponential_.ShareOfNewest(present_);
  }
  if (request_ == YcsbRequest::kLatest) {
    return Zeta(count, draw_.zipf_theta) / zeta_;
  }
  return GrayZipf(zeta_items_, YcsbZipf::kTheta, zeta_, first_items_)
      .ShareBelow(count);
}

}  // namespace kvmatrix
