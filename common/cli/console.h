// The standard streams: the only place that writes to them.

#ifndef COMMON_CLI_CONSOLE_H_
#define COMMON_CLI_CONSOLE_H_

#include <string>
#include <string_view>
#include <system_error>

namespace kvmatrix {

// Standard output cannot be written.  what() says why; the process ends with
// status 2.
class OutputError : public std::system_error {
  using std::system_error::system_error;
};

// Makes closed standard streams /dev/null: otherwise the first files that the
// engine opens would have their descriptors, and receive the output.  Called
// before any file is opened.
void OpenStandardStreams();

// From now on, collects in memory what an engine writes to standard output.
// PrintText() still reaches the real one.
// REQUIRES: called once at most
void KeepStandardOutput();

// Returns the first 2,000 bytes of what was collected; nothing before
// KeepStandardOutput().
std::string ForeignOutput();

// Writes the text to standard output, unbuffered.  Throws OutputError, "cannot
// write stdout: No space left on device"; an output that nobody reads (EPIPE)
// is discarded.
void PrintText(std::string_view text);

// Writes whole lines of our own to standard error.
void PrintNotes(std::string_view lines);

// Returns the name of this executable's file, such as "db_bench_memory".
std::string ProgramName();

// Writes "<program>: message" as one line of Printable() text to
// standard error.
void PrintError(std::string_view message);

// Returns the text in one line that a terminal shows as it is: control
// characters (also DEL and those of Unicode below U+00A0) and bytes that are
// not UTF-8 become "\x1b", and the middle of a text of more than 2,000 bytes is
// left out.  For everything that comes from the command line or an engine.
std::string Printable(std::string_view text);

}  // namespace kvmatrix

#endif  // COMMON_CLI_CONSOLE_H_
