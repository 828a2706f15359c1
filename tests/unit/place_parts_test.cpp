// What an index is known to be a multiple of.
#include "passes/place_parts.h"

#include "ir/builder.h"
#include "typed_kernel.h"

using namespace tilec;
using namespace tilec::ir;

TEST_SUITE("parts") {
  TEST_CASE("divisors of indices") {
    Kernel kernel;
    kernel.body = kernel.new_region();
    ValueId n = kernel.new_arg(kernel.body, scalar_type(Scalar::Index));
    RegionId inside = kernel.new_region();
    ValueId i = kernel.new_arg(inside, scalar_type(Scalar::Index)), carried = kernel.new_arg(inside, scalar_type(Scalar::Index));
    Builder b(kernel, kernel.body), l(kernel, inside);
    b.add(op::For{.low = b.index(24), .high = n, .step = b.index(16), .inits = {b.index(0)}, .body = inside}, std::array{scalar_type(Scalar::Index)});
    ValueId eights = l.mul(n, l.index(8));
    ValueId either = l.select(l.compare(CompareFn::Lt, n, i), eights, l.index(12));
    l.yield({carried});
    passes::Divisors divisors(kernel, kernel.body);
    CHECK(divisors.of(l.index(0)) == 0);
    CHECK(divisors.of(l.index(-6)) == 6);
    CHECK(divisors.of(n) == 1);
    CHECK(divisors.of(i) == 8);
    CHECK(divisors.of(carried) == 1);
    CHECK(divisors.of(eights) == 8);
    CHECK(divisors.of(either) == 4);
    CHECK(divisors.of(l.add(eights, i)) == 8);
    CHECK(divisors.of(l.sub(l.mul(i, l.index(4)), l.index(4))) == 4);
    CHECK(divisors.of(l.binary(BinaryFn::Div, eights, l.index(2))) == 1);
    CHECK(divisors.of(l.mul(l.mul(l.index(int64_t(1) << 40), n), l.index(int64_t(1) << 40))) % (int64_t(1) << 30) == 0);
  }
}
