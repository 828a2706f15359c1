// Kernels that an assembler has too few registers for are scheduled again, and the best schedule stays.
#include <doctest/doctest.h>

#include "command.h"
#include "target/cuda/assemble.h"
#include "target/cuda/machine_code.h"
#include "target/target.h"

using namespace tilec;
using command::Folder;
using command::Ran;

namespace {

constexpr const char* kProduct = R"(export kernel product(A: f16[M, K], B: f16[K, N], out C: f32[M, N]) {
    launch (i in ceildiv(M, 128), j in ceildiv(N, 256)) {
        var a: shared f16[128, 64];
        var b: shared f16[64, 256];
        var sum: fragment f32[128, 256] = 0;
        for k in pipelined(ceildiv(K, 64), stages = 3) {
            a = A.tile(i, k);
            b = B.tile(k, j);
            sum += a @ b;
        }
        C.tile(i, j) = sum;
    }
}
)";

// An assembler that spills as many bytes as the first line of `bytes` says of what it is given, and notes that it was called.
void write_assembler(const Folder& folder, const std::string& says) {
  folder.write("as", "#!/bin/sh\necho once >> calls\n" + says +
                     "echo \"Function properties for product_0_launch0_sm_90a\n 8 bytes stack frame, $bytes bytes spill stores, $bytes bytes spill loads\" >&2\n"
                     "printf '\\177ELF image' > \"$4\"\n");
  folder.run("chmod +x as");
  folder.write("product.tile", kProduct);
}
int calls(const Folder& folder) { return folder.run("cat calls; rm calls").times("once"); }

// What role budgets and open products look like in text.
constexpr const char* kBudgets = "bytes=100; grep -q 'setmaxnreg.inc.sync.aligned.u32 232' $2 && bytes=40; grep -q 'setmaxnreg.inc.sync.aligned.u32 240' $2 && bytes=60\n";
constexpr const char* kWaits = "bytes=400; grep -q 'wgmma.wait_group.sync.aligned.*1;' $2 || bytes=0\n";

}  // namespace

TEST_SUITE("another try") {
  TEST_CASE("where registers suffice there is none, and nothing is told") {
    Folder folder;
    write_assembler(folder, "bytes=0\n");
    Ran ran = folder.tilec("product.tile --emit=cubin --target=sm_90a --ptxas ./as -R spill");
    CHECK_MESSAGE((ran.code == 0 && !ran.says("T0818")), ran.out);
    CHECK(calls(folder) == 1);
  }

  TEST_CASE("the schedule that goes to memory least is kept, told, printed, and pinned it needs no other try") {
    Folder folder;
    write_assembler(folder, kBudgets);
    Ran ran = folder.tilec("product.tile --emit=cubin --target=sm_90a --ptxas ./as -R spill --time-passes");
    CHECK(ran.code == 0);
    CHECK_MESSAGE(ran.says("product.tile:1:15: remark: registers ran out for `product`, so it was assembled with 2 other schedules: with `role math: registers 232`, "
                           "`role load: registers 32` loops have 20 accesses of the stack (80 bytes in all), not 50 accesses of the stack (200 bytes in all) [T0818, "), ran.out);
    CHECK_MESSAGE(ran.says("ms  other schedules, for want of registers"), ran.out);
    CHECK(calls(folder) == 3);  // the first and two others, one of which is the whole
    Ran schedule = folder.tilec("product.tile --emit=schedule --target=sm_90a --ptxas ./as");
    CHECK_MESSAGE((schedule.says("role math: warps 8, registers 232 ") && schedule.says("role load: warps 4, registers 32 ")), schedule.out);
    CHECK(folder.tilec("explain product.tile --target=sm_90a --ptxas ./as").says("role math: warps 8, registers 232 "));
    CHECK(folder.tilec("explain product.tile --target=sm_90a --ptxas ./as --tries 1").says("role math: warps 8, registers 216 "));
    // Pasted, it is the source's, and its text that of the try.
    folder.write("product.tile", kProduct + schedule.out);
    folder.run("rm calls");
    ran = folder.tilec("product.tile --emit=cubin --target=sm_90a --ptxas ./as -R spill");
    CHECK_MESSAGE(!ran.says("T0818"), ran.out);
    CHECK(calls(folder) == 1);
  }

  TEST_CASE("products are awaited one by one only where much goes to memory") {
    Folder folder;
    write_assembler(folder, kWaits);
    Ran ran = folder.tilec("product.tile --target=x86-64,sm_90a --ptxas ./as -R spill");
    CHECK_MESSAGE(ran.says("so it was assembled with 3 other schedules: with `pipeline a_b: in_flight 0` loops have 0 accesses of the stack (0 bytes in all), not 200 accesses"), ran.out);
    CHECK(calls(folder) == 4);
    write_assembler(folder, "bytes=100; grep -q 'wgmma.wait_group.sync.aligned.*1;' $2 || bytes=0\n");
    ran = folder.tilec("product.tile --target=x86-64,sm_90a --ptxas ./as -R spill");
    CHECK_MESSAGE(ran.says("so it was assembled with 2 other schedules: none does much better than the first, where loops have 50 accesses"), ran.out);
    CHECK(calls(folder) == 3);
  }

  TEST_CASE("products that the assembler runs one by one ask for all that there is") {
    Folder folder;
    write_assembler(folder, "bytes=4; grep -q 'wgmma.wait_group.sync.aligned.*1;' $2 && bytes=0 && echo \"ptxas info    : (C7510) Potential Performance Loss: "
                            "wgmma.mma_async instructions are serialized in the function 'product_0_launch0_sm_90a'\" >&2\n");
    Ran ran = folder.tilec("product.tile --emit=cubin --target=sm_90a --ptxas ./as -R spill -R tensor-core");
    CHECK_MESSAGE(ran.says("with `pipeline a_b: in_flight 0` loops have 2 accesses of the stack (8 bytes in all), not 0 accesses of the stack (0 bytes in all), and "
                                "matrix products are not held up"), ran.out);
    CHECK(!ran.says("T0813"));
  }

  TEST_CASE("what is pinned stays, and who wants one try gets one") {
    Folder folder;
    write_assembler(folder, "bytes=400\n");
    Ran ran = folder.tilec("product.tile --emit=cubin --target=sm_90a --ptxas ./as -R spill --tries 1");
    CHECK_MESSAGE(!ran.says("T0818"), ran.out);
    CHECK(calls(folder) == 1);
    folder.write("product.tile", std::string(kProduct) + "schedule product for sm_90a { pipeline ab: a, b; depth 3, in_flight 1;\n"
                                                        "role load: warps 4, registers 104 { a; b; } role math: warps 8, registers 200 { rest; } }\n");
    ran = folder.tilec("product.tile --emit=cubin --target=sm_90a --ptxas ./as -R spill");
    CHECK_MESSAGE((ran.code == 0 && !ran.says("T0818")), ran.out);
    CHECK(calls(folder) == 1);
  }

  // More than the block has: on the device the role that asks for it would never go on.
  TEST_CASE("pinned registers of roles fit the block's, or are refused") {
    Folder folder;
    write_assembler(folder, "bytes=0\n");
    auto ran = [&](std::string_view math, std::string_view load) {
      folder.write("product.tile", std::string(kProduct) + "schedule product for sm_90a { role load: warps 4, registers " + std::string(load) +
                                       " { a; b; } role math: warps 8, registers " + std::string(math) + " { rest; } }\n");
      return folder.tilec("product.tile --emit=cubin --target=sm_90a --ptxas ./as --tries 1");
    };
    CHECK(ran("240", "24").code == 0);
    Ran over = ran("240", "32");
    CHECK_MESSAGE((over.code != 0 && over.says("the lanes of its roles have 65536 registers, and a block of 12 warps of sm_90a has 64512 to share out [T0504")), over.out);
    Ran odd = ran("212", "24");
    CHECK_MESSAGE((odd.code != 0 && odd.says("role `math` has 212 registers, and sm_90a gives roles multiples of 8 [T0504")), odd.out);
  }

  // Accumulators of 128 registers beside scores of 40, and a product of either open under the other.
  TEST_CASE("a kernel that goes to the stack in its loop does so less, by a schedule that gives the same image when it is pinned" *
            doctest::skip(target::cuda::find_assembler().empty())) {
    Folder folder;
    std::ifstream file(TILEC_TESTS "/../examples/attention/attention.tile");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    text = text.substr(0, text.find("\nexport ")) + "\nexport attention[D = 256, BN = 80] as large;\n";
    folder.write("large.tile", text);
    Ran ran = folder.tilec("large.tile --emit=cubin --target=sm_90a -R spill -o first.cubin --tries 1");
    CHECK_MESSAGE((ran.says("[T0814,") && !ran.says("[T0818,")), ran.out);
    ran = folder.tilec("large.tile --emit=cubin --target=sm_90a -R spill -o best.cubin");
    CHECK_MESSAGE((ran.says("so it was assembled with 2 other schedules: with `role math: registers 232`") && ran.says("` loops have ")), ran.out);
    folder.write("pinned.tile", text + folder.tilec("large.tile --emit=schedule --target=sm_90a -o -").out);
    CHECK(folder.tilec("pinned.tile --emit=cubin --target=sm_90a -o pinned.cubin --tries 1").code == 0);
    auto accesses = [&](const char* image) { return target::cuda::stack_accesses_in_loops(folder.read(image), "large_0_launch0_sm_90a", 90).value_or(-1); };
    CHECK(accesses("best.cubin") >= 0);
    CHECK(accesses("best.cubin") * 4 <= accesses("first.cubin") * 3);
    CHECK(folder.read("pinned.cubin") == folder.read("best.cubin"));
  }

  TEST_CASE("code of another kind tells nothing") {
    CHECK(!target::cuda::stack_accesses_in_loops("", "f", 90));
    CHECK(!target::cuda::stack_accesses_in_loops(std::string("\177ELF image"), "f", 90));
    CHECK(!target::cuda::stack_accesses_in_loops(std::string(4096, '\xFF'), "f", 90));
  }

  TEST_CASE("a schedule that requires registers for everything is refused where they run out") {
    Folder folder;
    write_assembler(folder, "bytes=400\n");
    folder.write("product.tile", std::string(kProduct) + "schedule product for sm_90a { require no_spill; }\n");
    Ran ran = folder.tilec("product.tile --emit=cubin --target=sm_90a --ptxas ./as");
    CHECK(ran.code == 1);
    CHECK_MESSAGE(ran.says("error: the schedule requires `no_spill`, and on `sm_90a` the assembler has too few registers for `product_0_launch0_sm_90a`: 400 bytes are "
                           "stored and 400 loaded; its heaviest tile is `sum`, 128 registers of each lane"), ran.out);
    CHECK(!std::filesystem::exists(folder.path / "product.cubin"));
    // A few bytes are not worth a try but for who requires that there are none.
    const char* says = "bytes=4; grep -q 'wgmma.wait_group.sync.aligned.*1;' $2 || bytes=0\n";
    write_assembler(folder, says);
    folder.run("rm -f calls");
    CHECK(folder.tilec("product.tile --emit=cubin --target=sm_90a --ptxas ./as").code == 0);
    CHECK(calls(folder) == 1);
    write_assembler(folder, says);
    folder.write("product.tile", std::string(kProduct) + "schedule product for sm_90a { require no_spill; }\n");
    ran = folder.tilec("product.tile --emit=cubin --target=sm_90a --ptxas ./as -R spill");
    CHECK_MESSAGE((ran.code == 0 && ran.says("with `pipeline a_b: in_flight 0` loops have 0 accesses")), ran.out);
  }
}
