// Preloaded into one process, adds the seconds in the file $SHIFTED_CLOCK to
// the time of day.  Monotonic clocks are left alone, as by a real step of the
// clock.

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

namespace {

time_t OffsetSeconds() {
  const char* path = getenv("SHIFTED_CLOCK");
  const int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return 0;
  char text[32];
  const ssize_t bytes = read(fd, text, sizeof text - 1);
  close(fd);
  if (bytes <= 0) return 0;
  text[bytes] = '\0';
  return strtol(text, nullptr, 10);
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, struct timespec* now) noexcept {
  using Function = int (*)(clockid_t, struct timespec*);
  static const auto next =
      reinterpret_cast<Function>(dlsym(RTLD_NEXT, "clock_gettime"));
  const int result = next(clock, now);
  const bool is_time_of_day =
      clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (result == 0 && is_time_of_day) now->tv_sec += OffsetSeconds();
  return result;
}

extern "C" int gettimeofday(struct timeval* now, void*) noexcept {
  struct timespec time;
  const int result = clock_gettime(CLOCK_REALTIME, &time);
  if (result == 0) *now = {time.tv_sec, time.tv_nsec / 1000};
  return result;
}

extern "C" time_t time(time_t* result) noexcept {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
