// erf: an odd polynomial near zero; beyond 1 it is 1 - exp(log erfc x), where a polynomial gives the logarithm and an
// error of it counts for no more than erfc.
#include "passes/math.h"

namespace tilec::passes {

using ir::CompareFn;
using ir::UnaryFn;
using ir::ValueId;

namespace {

// erf x = x P(x^2) on [0, 1].
constexpr double kNearF32[] = {1.12837911,    -0.376123309,    0.112806953,  -0.0267413482,
                               0.00498736976, -0.000635435688, 2.74430677e-5};
constexpr double kNearF64[] = {1.1283791670955126,     -0.37612638903183448,   0.11283791670943015,
                               -0.026866170642861259,  0.0052239776023671599,  -0.00085483256315022852,
                               0.00012055279994515246, -1.4924329908812196e-5, 1.6440245081671209e-6,
                               -1.6126698575029555e-7, 1.3138869539144315e-8,  -5.4520592746793613e-10,
                               -4.0971410772403415e-11};
// log erfc(c + x) = P(x): from c = 1 to 3.95, where erf is 1 in f32; from 1 to 2.25 and from there to 5.95 in f64.
constexpr double kFarF32[] = {-1.84960556,   -2.63896537,    -0.843131781,    -0.0414032638,
                              0.00955262873, -0.00130471704, -0.000165757112, 8.41809451e-5};
constexpr double kFarLowF64[] = {-1.8496055099332482,   -2.6389675142347935,    -0.84310725635843498,
                                 -0.041561098045875197, 0.01003382540311029,    -0.0019779026078680134,
                                 0.0002373217638410805, 2.628353006076639e-5,   -2.718066506007507e-5,
                                 9.6603626021943309e-6, -2.1426633515697118e-6, 2.3532660173818028e-7,
                                 2.5983457268650788e-8, -1.4212280314722253e-8, 1.7346013213064142e-9};
constexpr double kFarHighF64[] = {-6.5274598963658184,    -4.8829138105445349,    -0.9348675668790638,
                                  -0.013312548374668937,  0.0027713366320948822,  -0.00055483973982937398,
                                  0.00010263356704946746, -1.6594077651588776e-5, 2.0332771052441161e-6,
                                  -5.7092325835661173e-8, -7.0960320261380965e-8, 2.9599618367218115e-8,
                                  -7.225470235963757e-9,  1.0766043213305781e-9,  -7.4381473222687318e-11};
constexpr double kSeam = 2.25;

}  // namespace

ValueId Math::log_of_erfc(ValueId magnitude) {
  if (!is_double()) return polynomial(b_.sub(at_most(magnitude, 3.95), real(1)), kFarF32);
  ValueId x = at_most(magnitude, 5.95);
  ValueId low = polynomial(b_.sub(x, real(1)), kFarLowF64), high = polynomial(b_.sub(x, real(kSeam)), kFarHighF64);
  return b_.select(b_.compare(CompareFn::Lt, x, real(kSeam)), low, high);
}

// At most 2.5 ulp (f32), 2 ulp (f64).
ValueId Math::erf(ValueId x) {
  ValueId magnitude = abs(x);
  ValueId near = b_.mul(magnitude, polynomial(b_.mul(magnitude, magnitude),
                                              is_double() ? std::span<const double>(kNearF64) : kNearF32));
  ValueId far = b_.sub(real(1), exp(log_of_erfc(magnitude)));
  return with_sign(b_.select(b_.compare(CompareFn::Lt, magnitude, real(1)), near, far), sign(x));
}

}  // namespace tilec::passes
