// What a plug-in must leave alone in the process that loads it.

#ifndef DRIVERS_PLUGINS_CONDUCT_H_
#define DRIVERS_PLUGINS_CONDUCT_H_

#include <signal.h>

#include <cstddef>
#include <string>

namespace kvmatrix {

// Observes one call of a plug-in, on the calling thread.
//
//   Conduct conduct("flush");
//   ... the call ...
//   conduct.Check();
class Conduct {
 public:
  // `call` is a constant, for messages.
  explicit Conduct(const char* call);

  // Throws std::runtime_error if the call has changed the signal mask of this
  // thread, or if the plug-in has written to standard output: see
  // ForeignOutput().
  void Check() const;

 private:
  const char* const call_;
  sigset_t mask_;
};

// Returns the number of threads of this process.
size_t CountThreads();

// Throws std::runtime_error if more than `before` threads are left once a
// database has been closed.  Waits up to five seconds for threads that are
// ending.
void RequireThreadsEnded(size_t before);

}  // namespace kvmatrix

#endif  // DRIVERS_PLUGINS_CONDUCT_H_
