#include "sema/foreign_names.h"

#include "base/advice.h"

namespace tilec::sema {

namespace {

constexpr std::string_view kNull = "a parameter that may be NULL has a `?` behind its type, `w: f32[N]?`, and is tested by `if w { ... }`";
constexpr std::string_view kExtent = "the extents of a tensor are the names in its type, `x: f32[M, N]`; those of a tile are known where it is declared";
constexpr std::string_view kPrint = "a kernel prints nothing: `tilec run` interprets it and stops at the line where something goes wrong; what is of interest is stored in an `out`";
constexpr std::string_view kAssert = "what holds of arguments is stated by `requires` behind the parameters, what is known at compile time by `static_assert(...)`";
constexpr std::string_view kBlocks = "the blocks are the indices of `launch (i in ceildiv(N, 64)) { ... }`";
constexpr std::string_view kProduct = "a product of matrices is `a @ b`";
constexpr std::string_view kLoad = "a part of a tensor is read by its name: `x.tile[64](i)`, `x[i * 64 +: 64]`; what lies beyond the edge is padding";
constexpr std::string_view kMean = "the mean is a sum divided by the extent: `t.sum(axis = 0) / (N as f32)`";
constexpr std::string_view kSoftmax = "`let e = exp(t - t.max(axis = 1)[:, _]); e / e.sum(axis = 1)[:, _]`, of tiles read with `pad = -inf`";
constexpr std::string_view kConvert = "a conversion is written `x as f32`";
constexpr std::string_view kReduce = "reductions are `sum prod max min absmax any all argmax argmin`, of one axis: `t.sum(axis = 0)`";
constexpr std::string_view kShape = "`t.reshape[M, N]` has as many elements, `t.T` is turned, `t[:, _]` has one axis more";
constexpr std::string_view kOneType = "one function is for all types of floats, and has no letter at its end: `sqrt`, `exp`, `max`";
constexpr std::string_view kIntrinsic = "how exactly a function is computed is not part of its name: `exp`, `rsqrt`, `fma`; `@fast_math` before a kernel lets its arithmetic be rearranged";
constexpr std::string_view kAtomic = "atomics are `atomic_add(place, value)`, `atomic_max`, `atomic_min`, `atomic_exchange`, `atomic_compare_exchange(place, expected, value)`";
constexpr std::string_view kShuffle = "lanes of a warp exchange by `shuffle`, `shuffle_xor`, `shuffle_up`, `shuffle_down`, and vote by `vote_any`, `vote_all`, `ballot`";
constexpr std::string_view kModule = "functions of the library need no module, or one that the file imports: `import std.math;`, then `math.gelu`";

constexpr Advice kNames[] = {
    {"threadIdx", "the threads of a block are the index of `simt (t) { ... }`"},
    {"blockIdx", kBlocks}, {"program_id", kBlocks}, {"get_global_id", kBlocks}, {"get_group_id", kBlocks}, {"num_programs", kBlocks},
    {"blockDim", "the threads of a block are the number behind `threads`"},
    {"gridDim", "the blocks are as many as the extents of the `launch` say"},
    {"warpSize", "a warp has as many lanes as the target: 32 on GPUs, fewer on CPUs; `lane()` and `warp()` count them"},
    {"__syncthreads", "the threads of a block wait for each other at `sync;`"}, {"syncthreads", "the threads of a block wait for each other at `sync;`"},
    {"barrier", "the threads of a block wait for each other at `sync;`"}, {"__syncwarp", "lanes of a warp run together: nothing is written here"},
    {"__shared__", "memory of a block is `var s: shared f32[64];`"},
    {"matmul", kProduct}, {"mm", kProduct}, {"bmm", kProduct}, {"mma", kProduct},
    {"dot", "a product of matrices is `a @ b`, one of vectors `(a * b).sum(axis = 0)`"},
    {"zeros", "a tile of zeros is `var t: fragment f32[64, 64] = 0;`"}, {"zeros_like", "a tile of zeros is `var t: fragment f32[64, 64] = 0;`"},
    {"ones", "a tile of ones is `var t: fragment f32[64, 64] = 1;`"}, {"full", "a tile of one number is `var t: fragment f32[64, 64] = 3;`"},
    {"empty", "a tile is declared by `var t: fragment f32[64, 64];`"}, {"array", "a tile is declared by `var t: fragment f32[64, 64] = 0;`"},
    {"arange", "a tile of indices is made by a loop over its elements: `for c in parallel(64) { t[c] = c as f32; }`"},
    {"linspace", "a tile of indices is made by a loop over its elements: `for c in parallel(64) { t[c] = c as f32; }`"},
    {"where", "a choice for each element is `select(condition, a, b)`"},
    {"load", kLoad}, {"store", "a part of a tensor is written by its name: `y.tile(i) = t;`, `y[i] = x;`"},
    {"None", kNull}, {"null", kNull}, {"nullptr", kNull}, {"NULL", kNull}, {"nil", kNull}, {"nullopt", kNull},
    {"True", "it is written `true`"}, {"False", "it is written `false`"}, {"TRUE", "it is written `true`"}, {"FALSE", "it is written `false`"},
    {"infinity", "it is written `inf`"}, {"INFINITY", "it is written `inf`"}, {"NAN", "it is written `nan`"}, {"FLT_MAX", "the greatest number is written as one; `inf` is greater than all"},
    {"len", kExtent}, {"sizeof", kExtent}, {"size", kExtent}, {"shape", kExtent}, {"cdiv", "it is `ceildiv(a, b)`"}, {"div_up", "it is `ceildiv(a, b)`"},
    {"printf", kPrint}, {"print", kPrint}, {"println", kPrint}, {"cout", kPrint}, {"assert", kAssert}, {"device_assert", kAssert},
    {"malloc", "memory of a call is `var w: workspace f32[N];` in front of the launches"}, {"alloc", "memory of a block is `var s: shared f32[64];`"},
    {"fabs", "`abs` is for all types"}, {"softmax", kSoftmax}, {"mean", kMean}, {"average", kMean}, {"var_mean", kMean},
    {"sqrtf", kOneType}, {"expf", kOneType}, {"logf", kOneType}, {"sinf", kOneType}, {"cosf", kOneType}, {"tanhf", kOneType}, {"powf", kOneType}, {"fabsf", kOneType},
    {"fmaxf", "it is `max`"}, {"fminf", "it is `min`"}, {"fmax", "it is `max`"}, {"fmin", "it is `min`"}, {"fmaf", "it is `fma`"}, {"fmodf", kOneType}, {"maxf", "it is `max`"},
    {"__expf", kIntrinsic}, {"__logf", kIntrinsic}, {"__sinf", kIntrinsic}, {"__cosf", kIntrinsic}, {"__fdividef", kIntrinsic}, {"rsqrtf", kIntrinsic}, {"__ldg", kLoad},
    {"tan", "it is `sin(x) / cos(x)`"}, {"tanf", "it is `sin(x) / cos(x)`"}, {"log10", "it is `log(x) * 0.4342944819032518`"}, {"log10f", "it is `log(x) * 0.4342944819032518`"},
    {"hypot", "it is `sqrt(x * x + y * y)`"}, {"hypotf", "it is `sqrt(x * x + y * y)`"}, {"mod", "it is `x % y`, which has the sign of `y`"}, {"fmod", "it is `x - trunc(x / y) * y`"},
    {"atan2", "there is no such function: what needs an angle is mostly written by `sin` and `cos`, or by a polynomial of `y / x`"},
    {"__popc", "it is `popcount(x)`"}, {"popc", "it is `popcount(x)`"}, {"__builtin_popcount", "it is `popcount(x)`"},
    {"rint", "it is `round`, which goes to the even one of two neighbours"}, {"isnan", "it is `is_nan(x)`"}, {"ceilf", "it is `ceil`"}, {"floorf", "it is `floor`"},
    {"atomicAdd", kAtomic}, {"atomicMax", kAtomic}, {"atomicMin", kAtomic}, {"atomicCAS", kAtomic}, {"atomicExch", kAtomic},
    {"__shfl_sync", kShuffle}, {"__shfl_xor_sync", kShuffle}, {"__shfl_down_sync", kShuffle}, {"__shfl_up_sync", kShuffle}, {"__ballot_sync", kShuffle},
    {"np", kModule}, {"numpy", kModule}, {"torch", kModule}, {"tl", kModule}, {"std", kModule}, {"jnp", kModule}, {"triton", kModule}, {"math", kModule},
    {"lambda", "a function has a name: `fn f(x: f32) -> f32 = x * x;`"}, {"self", "a function takes all that it works on as parameters"},
    {"this", "a function takes all that it works on as parameters"}, {"range", "`range(from, to, step)` is the head of a loop, `for k in range(0, n, 2)`; an axis of a launch has an extent alone, `launch (i in N)`"}, {"enumerate", "a loop counts: `for k in 0..n { ... }`"}, {"zip", "a loop counts: `for k in 0..n { ... }`"},
    {"prange", "blocks run at once: `launch (i in n) { ... }`; elements of a tile `for c in parallel(64) { ... }`"},
};

constexpr std::string_view kShared = "memory of a block is `var s: shared f32[32, 32];`";
constexpr std::string_view kTile = "a tile in registers is `var t: fragment f32[32, 32] = 0;`";
constexpr std::string_view kPipelined = "a loop whose loads overlap is `for k in pipelined(n, stages = 3) { ... }`";

// What modules of others offer, `T.alloc_shared`.
constexpr Advice kOfModules[] = {
    {"alloc_shared", kShared}, {"alloc_fragment", kTile}, {"alloc_local", "memory of a thread is `var s: local f32[8];`"}, {"alloc_var", "a variable is `var s: f32 = 0;`"},
    {"Pipelined", kPipelined}, {"Parallel", "elements of a tile are written by `for (r, c) in parallel(M, N) { ... }`"}, {"serial", "a loop is `for k in 0..n { ... }`"},
    {"static_range", "a loop that is unrolled is `for k in unroll(4) { ... }`"}, {"unroll", "a loop that is unrolled is `for k in unroll(4) { ... }`"},
    {"Kernel", "the blocks are the indices of `launch (i in M, j in N) threads 128 { ... }`"}, {"gemm", "a product of matrices is `acc += a @ b;`"},
    {"copy", "a tile is read by `let t = x.tile[64](i);` and written by `y.tile(i) = t;`"}, {"clear", "a tile is cleared by `t = 0;`"}, {"fill", "a tile of one number is `t = 3;`"},
    {"reduce_max", kReduce}, {"reduce_sum", kReduce}, {"reduce_min", kReduce}, {"cast", kConvert}, {"pi", "it is written `3.141592653589793`"}, {"e", "it is written `2.718281828459045`"},
    {"maximum", "it is `max(a, b)`"}, {"minimum", "it is `min(a, b)`"}, {"sigmoid", "`import std.math;`, then `math.sigmoid(x)`"}, {"constexpr", "what is chosen at compile time stands in brackets: `kernel k[B: int = 64](...)`"},
};

constexpr std::string_view kKept = "a reduction leaves its axis out; `t.sum(axis = 1)[:, _]` has it again, of extent 1";
constexpr std::string_view kPadding = "what lies beyond the edge is padding, and is not stored: `x.tile[64](i, pad = 0)`";

// What parameters are called elsewhere.
constexpr Advice kParameters[] = {
    {"dim", "axis"}, {"axes", "axis"}, {"keepdims", kKept}, {"keepdim", kKept}, {"keep_dims", kKept}, {"other", kPadding}, {"mask", kPadding}, {"dtype", kConvert},
    {"num_stages", "stages"}, {"num_warps", "the threads of a block are said by its launch: `launch (i in N) threads 128 { ... }`"},
};

constexpr Advice kMembers[] = {
    {"mean", kMean}, {"average", kMean}, {"var", kMean}, {"std", kMean}, {"softmax", kSoftmax}, {"norm", "`sqrt((t * t).sum(axis = 0))`"},
    {"astype", kConvert}, {"to", kConvert}, {"float", kConvert}, {"half", kConvert}, {"int", kConvert}, {"type", kConvert}, {"cast", kConvert}, {"item", "an element of a tensor is `x[i]`"},
    {"shape", kExtent}, {"size", kExtent}, {"len", kExtent}, {"length", kExtent}, {"numel", kExtent}, {"ndim", kExtent}, {"rows", kExtent}, {"cols", kExtent}, {"extent", kExtent},
    {"dot", kProduct}, {"matmul", kProduct}, {"mm", kProduct}, {"transpose", kShape}, {"t", kShape}, {"permute", kShape}, {"view", kShape}, {"flatten", kShape},
    {"squeeze", kShape}, {"unsqueeze", kShape}, {"expand", kShape}, {"broadcast", kShape}, {"broadcast_to", kShape}, {"amax", kReduce}, {"amin", kReduce}, {"reduce", kReduce},
    {"maximum", kReduce}, {"minimum", kReduce}, {"add", kReduce}, {"load", kLoad}, {"store", "a part of a tensor is written by its name: `y.tile(i) = t;`, `y[i] = x;`"},
    {"fill", "a tile of one number is `t = 3;`"}, {"copy", "a tile is a value: `let u = t;`"}, {"clone", "a tile is a value: `let u = t;`"},
    {"x", "the indices of blocks and threads have names of their own: `launch (i in M, j in N)`, `simt (t)`"},
    {"y", "the indices of blocks and threads have names of their own: `launch (i in M, j in N)`, `simt (t)`"},
};

}  // namespace

std::string_view help_for_name(std::string_view word) { return help_on(kNames, word); }
std::string_view help_for_member(std::string_view word) { return help_on(kMembers, word); }
std::string_view help_for_parameter(std::string_view word) { return help_on(kParameters, word); }
std::string_view help_for_member_of_module(std::string_view word) { return help_on(kOfModules, word, help_on(kNames, word)); }
bool is_foreign_module(std::string_view word) { return word == "T" || help_on(kNames, word) == kModule; }

}  // namespace tilec::sema
