// The command line. Exit codes: 0 done; 1 errors in the source; 2 usage; 3 environment or input and output; 4 internal
// error; 5 a test or check said no; 6 target not supported.
#pragma once

namespace tilec {

int run_driver(int argc, const char* const* argv);

}  // namespace tilec
