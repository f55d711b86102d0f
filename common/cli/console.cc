#include "common/cli/console.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace kvmatrix {
namespace {

// Of a longer text, as many bytes are shown at either end.
constexpr size_t kMaxShown = 2000;
constexpr size_t kShownEnd = 900;

// The descriptor of our own output.
int own_output = STDOUT_FILENO;

// Returns the bytes of the character that the text begins with; 0 if it is a
// control character or not UTF-8.
// REQUIRES: the text is not empty
size_t PrintableSize(std::string_view text) {
  const auto byte = [text](size_t i) -> uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const uint32_t first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  uint32_t character = first & (0xffu >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    if (byte(i) >> 6 != 2) return 0;
    character = character << 6 | (byte(i) & 0x3f);
  }
  // The least character of each size: a smaller one has a shorter form.
  constexpr uint32_t kLeast[] = {0xa0, 0x800, 0x10000};
  const bool surrogate = character >= 0xd800 && character < 0xe000;
  const bool valid = first >= 0xc2 && first < 0xf5 && !surrogate &&
                     character >= kLeast[size - 2] && character < 0x110000;
  return valid ? size : 0;
}

std::string Escaped(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string escaped;
  while (!text.empty()) {
    size_t size = PrintableSize(text);
    if (size == 0) {
      const auto byte = static_cast<unsigned char>(text.front());
      escaped += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
      size = 1;
    } else {
      escaped += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return escaped;
}

}  // namespace

void OpenStandardStreams() {
  struct stat ignored;
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    // open() returns the lowest free descriptor, which is this one.
    if (fstat(fd, &ignored) != 0 && open("/dev/null", O_RDWR) != fd) return;
  }
}

void KeepStandardOutput() {
  const int memory = memfd_create("stdout", MFD_CLOEXEC);
  own_output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (memory < 0 || own_output < 0 || dup2(memory, STDOUT_FILENO) < 0) {
    throw OutputError(errno, std::generic_category(), "cannot keep stdout");
  }
  close(memory);
}

std::string ForeignOutput() {
  if (own_output == STDOUT_FILENO) return {};
  std::fflush(stdout);
  std::string text(kMaxShown, '\0');
  const ssize_t size = pread(STDOUT_FILENO, text.data(), text.size(), 0);
  text.resize(std::max<ssize_t>(size, 0));
  return text;
}

void PrintText(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(own_output, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) return;
    if (written < 0) {
      throw OutputError(errno, std::generic_category(), "cannot write stdout");
    }
    text.remove_prefix(written);
  }
}

void PrintNotes(std::string_view lines) {
  std::fwrite(lines.data(), 1, lines.size(), stderr);
}

void PrintError(std::string_view message) {
  PrintNotes(ProgramName() + ": " + Printable(message) + "\n");
}

std::string ProgramName() { return program_invocation_short_name; }

std::string Printable(std::string_view text) {
  if (text.size() <= kMaxShown) return Escaped(text);
  const size_t left_out = text.size() - 2 * kShownEnd;
  return Escaped(text.substr(0, kShownEnd)) + " [... " +
         std::to_string(left_out) + " bytes ...] " +
         Escaped(text.substr(text.size() - kShownEnd));
}

}  // namespace kvmatrix
