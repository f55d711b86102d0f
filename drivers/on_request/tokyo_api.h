// Tokyo Cabinet's two databases behind the same names: BTree is tcbdb*(), a B+
// tree, and HashTable is tchdb*().  What only one of them has is called by its
// own name.

#ifndef DRIVERS_ON_REQUEST_TOKYO_API_H_
#define DRIVERS_ON_REQUEST_TOKYO_API_H_

#include <tcbdb.h>
#include <tchdb.h>
#include <tcutil.h>

#include <cstdint>

namespace kvmatrix {

struct BTree {
  using Handle = TCBDB;
  static constexpr auto New = &tcbdbnew;
  static constexpr auto Delete = &tcbdbdel;  // closes it
  static constexpr auto SetMutex = &tcbdbsetmutex;
  static constexpr auto SetMap = &tcbdbsetxmsiz;
  static constexpr auto Open = &tcbdbopen;
  static constexpr auto Error = &tcbdbecode;
  static constexpr auto Put = &tcbdbput;
  static constexpr auto Remove = &tcbdbout;
  static constexpr auto Get = &tcbdbget;
  static constexpr auto Begin = &tcbdbtranbegin;
  static constexpr auto Commit = &tcbdbtrancommit;
  static constexpr auto HandOver = &tcbdbmemsync;
  static constexpr auto Buckets = &tcbdbbnum;
  static constexpr auto Options = &tcbdbopts;
  static constexpr auto Alignment = &tcbdbalign;
  static constexpr auto HasMutex = &tcbdbhasmutex;

  // Rewrites the file with the same options.
  static bool Rewrite(TCBDB* db) {
    return tcbdboptimize(db, 0, 0, 0, -1, -1, UINT8_MAX);
  }
};

struct HashTable {
  using Handle = TCHDB;
  static constexpr auto New = &tchdbnew;
  static constexpr auto Delete = &tchdbdel;  // closes it
  static constexpr auto SetMutex = &tchdbsetmutex;
  static constexpr auto SetMap = &tchdbsetxmsiz;
  static constexpr auto Open = &tchdbopen;
  static constexpr auto Error = &tchdbecode;
  static constexpr auto Put = &tchdbput;
  static constexpr auto Remove = &tchdbout;
  static constexpr auto Get = &tchdbget;
  static constexpr auto Begin = &tchdbtranbegin;
  static constexpr auto Commit = &tchdbtrancommit;
  static constexpr auto HandOver = &tchdbmemsync;
  static constexpr auto Buckets = &tchdbbnum;
  static constexpr auto Options = &tchdbopts;
  static constexpr auto Alignment = &tchdbalign;
  static constexpr auto HasMutex = &tchdbhasmutex;

  // Rewrites the file with the same options.
  static bool Rewrite(TCHDB* db) {
    return tchdboptimize(db, 0, -1, -1, UINT8_MAX);
  }
};

}  // namespace kvmatrix

#endif  // DRIVERS_ON_REQUEST_TOKYO_API_H_
