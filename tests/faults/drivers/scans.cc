// Lies in a scan; what is stored is right.

#include "tests/faults/drivers/lies.h"

namespace kvmatrix {
namespace {

using Scan = Behaviour::Scan;

struct Row {
  std::string key;
  std::string value;
};

// A whole scan with this lie; a scan from a given key does not lie.
Behaviour WholeScans(Scan scan) {
  Behaviour lie;
  lie.scan = [scan](Session& session, std::string_view start, Order order,
                    const Visitor& visit) {
    start.empty() ? scan(session, start, order, visit)
                  : session.Scan(start, order, visit);
  };
  return lie;
}

// Handles the N-th row of a whole scan, given the row before it.  Returns false
// to stop the scan.
using RowLie = bool (*)(const Row& before, const Row& row,
                        const Visitor& visit);

Behaviour AtRow(RowLie lie) {
  return WholeScans([lie](Session& session, std::string_view start, Order order,
                          const Visitor& visit) {
    Row before;
    session.Scan(
        start, order, [&, once = Once()](auto key, auto value) mutable {
          Row row{std::string(key), std::string(value)};
          const bool more =
              once() ? lie(before, row, visit) : visit(row.key, row.value);
          before = std::move(row);
          return more;
        });
  });
}

Behaviour GoesBackward() {
  return WholeScans([](Session& session, std::string_view start, Order order,
                       const Visitor& visit) {
    session.Scan(start,
                 order == Order::kForward ? Order::kBackward : Order::kForward,
                 visit);
  });
}

// Visits the N-th row after the one that follows it.
Behaviour SwapsNeighbours() {
  return WholeScans([](Session& session, std::string_view start, Order order,
                       const Visitor& visit) {
    std::optional<Row> held;
    bool expected = true;
    session.Scan(start, order,
                 [&, once = Once()](auto key, auto value) mutable {
                   if (once()) {
                     held = {std::string(key), std::string(value)};
                     return true;
                   }
                   expected = visit(key, value);
                   if (expected && held) {
                     expected = visit(held->key, held->value);
                     held.reset();
                   }
                   return expected;
                 });
    if (expected && held) visit(held->key, held->value);
  });
}

Behaviour SkipsHalf() {
  return WholeScans([](Session& session, std::string_view start, Order order,
                       const Visitor& visit) {
    bool odd = false;
    session.Scan(start, order, [&](auto key, auto value) {
      return (odd = !odd) || visit(key, value);
    });
  });
}

Behaviour SkipsRow() {
  return AtRow([](const Row&, const Row&, const Visitor&) { return true; });
}

// Never visits the last row.
Behaviour StopsEarly() {
  return WholeScans([](Session& session, std::string_view start, Order order,
                       const Visitor& visit) {
    std::optional<Row> held;
    session.Scan(start, order, [&](auto key, auto value) {
      const bool more = !held || visit(held->key, held->value);
      held = {std::string(key), std::string(value)};
      return more;
    });
  });
}

Behaviour VisitsTwice() {
  return AtRow([](const Row&, const Row& row, const Visitor& visit) {
    return visit(row.key, row.value) && visit(row.key, row.value);
  });
}

Behaviour VisitsNeighbour() {
  return AtRow([](const Row& before, const Row&, const Visitor& visit) {
    return visit(before.key, before.value);
  });
}

Behaviour GivesValueOfNeighbour() {
  return AtRow([](const Row& before, const Row& row, const Visitor& visit) {
    return visit(row.key, before.value);
  });
}

Behaviour VisitsIntruder() {
  return AtRow([](const Row&, const Row& row, const Visitor& visit) {
    return visit("intruder", row.value);
  });
}

Behaviour AddsIntruder() {
  return WholeScans([](Session& session, std::string_view start, Order order,
                       const Visitor& visit) {
    bool expected = true;
    session.Scan(start, order, [&](auto key, auto value) {
      return expected = visit(key, value);
    });
    if (expected) visit("intruder", "value");
  });
}

Behaviour SeeksToNeighbour() {
  Behaviour lie;
  lie.scan = [](Session& session, std::string_view start, Order order,
                const Visitor& visit) {
    bool passed = start.empty();
    session.Scan(start, order, [&](auto key, auto value) {
      if (passed) return visit(key, value);
      return passed = true;
    });
  };
  return lie;
}

// Finds `start` as a hash table would, in scans of this direction.
Behaviour SeeksPresent(Order direction) {
  Behaviour lie;
  lie.scan = [direction](Session& session, std::string_view start, Order order,
                         const Visitor& visit) {
    if (order != direction || start.empty() || session.Get(start))
      session.Scan(start, order, visit);
  };
  return lie;
}

Behaviour SeeksPresentForward() { return SeeksPresent(Order::kForward); }
Behaviour SeeksPresentBackward() { return SeeksPresent(Order::kBackward); }

constexpr Lie kLies[] = {
    {"scan-backward", "scans in the other direction", GoesBackward},
    {"scan-swap", "swaps two adjacent entries of a scan", SwapsNeighbours},
    {"scan-half", "omits every other entry of a scan", SkipsHalf},
    {"scan-skip", "omits the N-th entry of a scan", SkipsRow},
    {"scan-stop", "ends a scan one entry early", StopsEarly},
    {"scan-twice", "visits the N-th entry of a scan twice", VisitsTwice},
    {"scan-neighbour", "visits an entry twice instead of the next one",
     VisitsNeighbour},
    {"scan-value",
     "gives the N-th entry of a scan the value of the previous one",
     GivesValueOfNeighbour},
    {"scan-intruder", "replaces an entry with a key that was never written",
     VisitsIntruder},
    {"scan-more", "ends a scan with a key that was never written",
     AddsIntruder},
    {"seek-neighbour", "begins a scan one entry past the right one",
     SeeksToNeighbour},
    {"seek-absent", "scans nothing from a key that is not there",
     SeeksPresentForward},
    {"seek-absent-back", "scans nothing backward from a key that is not there",
     SeeksPresentBackward},
};

}  // namespace

std::span<const Lie> LiesOfScans() { return kLies; }

}  // namespace kvmatrix
