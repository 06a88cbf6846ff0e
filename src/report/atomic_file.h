// Writes a file so that others see either what was there before or all of the new content, never a part: into a
// temporary file beside it, then renamed over it. Control plane only; blocks on the disk.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace muster::report {

// Where the bytes of a file at `path` lie in the end: a link is replaced at its far end, not by a file of its own, also
// one whose far end is still to be made. Where a folder on the way is missing, no file can be opened there.
std::string resolved(const std::string& path);

// A name that all ways to write the same file have in common, hard links too; empty for what any number may use, such
// as /dev/null.
std::string identity_of(const std::string& path);

// Whether a file could be made or replaced at `path` as things stand now; the disk may still fill up.
base::Expected<void> check_writable(const std::string& path);

// A device or pipe at `path` is written to directly, and a reader that does not come or does not read is waited for as
// long as kEndPatience, or until a signal that has a handler (Ctrl-C); "-" is standard output; a symbolic link is
// followed.
base::Expected<void> write_atomically(const std::string& path, std::string_view bytes);

// "cannot write 'x': No space left on device; free some space there, or name a file on another disk".
std::unexpected<base::Error> cannot_write(const std::string& path, int error);

// Blocks until all is written. 0, or what errno says.
int write_all(int file, std::string_view bytes);

}  // namespace muster::report
