// What reproduces a mistake of tilec's own: a folder with the message, the sources that were read, and a script that runs the
// command on them again. It is written where a broken law or a signal ends the process, which then exits with code 4.
#pragma once
#include <string>
#include <vector>

#include "base/source.h"

namespace tilec {

// From here on, failures leave a bundle. The first word is the program.
void keep_bundles(std::vector<std::string> words);

// The sources of the run that is under way; null when it is over.
void watch_sources(const SourceMap* sources);

}  // namespace tilec
