#include "driver/bundle.h"
#include "driver/driver.h"

int main(int argc, char** argv) {
  tilec::keep_bundles({argv, argv + argc});
  return tilec::run_driver(argc, argv);
}
