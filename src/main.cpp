#include "base/heap.h"
#include "driver/bundle.h"
#include "driver/driver.h"
#ifdef TILEC_MIMALLOC
#include <mimalloc.h>
#endif

namespace {

void prepare_heap() {
#ifdef TILEC_MIMALLOC
  mi_option_set(mi_option_eager_commit_delay, 0);  // other threads' memory as a whole, so that it can be had in large pages
#endif
  tilec::use_large_pages();
}

}  // namespace

int main(int argc, char** argv) {
  prepare_heap();
  tilec::keep_bundles({argv, argv + argc});
  return tilec::run_driver(argc, argv);
}
