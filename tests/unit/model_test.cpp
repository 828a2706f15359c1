// Kernels on the made-up GPU, with and without asynchronous engines: they mean the same after every pass.
#include "agreement.h"
#include "target/model/machine.h"

using namespace tilec;
using namespace tilec::agreement;

namespace {

void agrees(const std::string& name, const Shapes& shapes) {
  for (const Machine& machine : target::model::machines()) check_agreement(kernel_of(name), shapes, machine);
}

}  // namespace

TEST_SUITE("model") {
  TEST_CASE("vector add") {
    for (int64_t n : {1, 255, 256, 1000}) agrees("vector_add", {{n}, {n}, {n}});
  }
  TEST_CASE("matrix product") {
    agrees("matrix_product", {{64, 64}, {64, 64}, {64, 64}});
    agrees("matrix_product", {{33, 96}, {96, 65}, {33, 65}});
    agrees("matrix_product", {{1, 32}, {32, 1}, {1, 1}});
  }
  TEST_CASE("empty tensors launch nothing") { agrees("matrix_product", {{0, 32}, {32, 5}, {0, 5}}); }
  TEST_CASE("attention") {
    agrees("attention", {{1, 64, 64}, {1, 128, 64}, {1, 128, 64}, {1, 64, 64}, {}, {}});
    agrees("attention", {{2, 70, 64}, {2, 100, 64}, {2, 100, 64}, {2, 70, 64}, {}, {}});
  }
}
