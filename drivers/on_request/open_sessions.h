// The sessions of a database that are open, for drivers whose sessions keep
// something open between two calls, such as a snapshot, which the database ends
// before it works.
//
//   OpenSessions<MySession> sessions;          // in the database
//   sessions.Add(this); sessions.Remove(this)  // in a session
//   sessions.ForEach([](MySession& session) { session.EndRead(); });

#ifndef DRIVERS_ON_REQUEST_OPEN_SESSIONS_H_
#define DRIVERS_ON_REQUEST_OPEN_SESSIONS_H_

#include <mutex>
#include <set>

namespace kvmatrix {

// Add() and Remove() are thread-safe.
template <typename Session>
class OpenSessions {
 public:
  void Add(Session* session) {
    const std::lock_guard lock(mutex_);
    sessions_.insert(session);
  }
  void Remove(Session* session) {
    const std::lock_guard lock(mutex_);
    sessions_.erase(session);
  }

  // REQUIRES: no session is inside a call
  template <typename Visit>
  void ForEach(Visit visit) {
    const std::lock_guard lock(mutex_);
    for (Session* session : sessions_) visit(*session);
  }

 private:
  std::mutex mutex_;
  std::set<Session*> sessions_;
};

}  // namespace kvmatrix

#endif  // DRIVERS_ON_REQUEST_OPEN_SESSIONS_H_
