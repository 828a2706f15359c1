// What an assembler says of functions, and what is told of it to who wrote the kernel.
#include <doctest/doctest.h>

#include "command.h"
#include "target/cuda/said.h"

using namespace tilec;
using command::Folder;
using command::Ran;

namespace {

constexpr const char* kProduct = R"(export kernel product(A: f16[M, K], B: f16[K, N], out C: f32[M, N]) {
    launch (i in ceildiv(M, 128), j in ceildiv(N, 128)) {
        var a: shared f16[128, 64];
        var b: shared f16[64, 128];
        var sum: fragment f32[128, 128] = 0;
        for k in pipelined(ceildiv(K, 64), stages = 3) {
            a = A.tile(i, k);
            b = B.tile(k, j);
            sum += a @ b;
        }
        C.tile(i, j) = sum;
    }
}
)";

// An assembler that prints `said` and makes an image.
void write_assembler(const Folder& folder, const std::string& said) {
  folder.write("said", said);
  folder.write("as", "#!/bin/sh\ncat said >&2\nprintf '\\177ELF image' > \"$4\"\n");
  folder.run("chmod +x as");
}

}  // namespace

TEST_CASE("what the assembler says is read by function") {
  auto slow = target::cuda::slow_functions(
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources in the function 'one'\n"
      "ptxas info    : (C7519) warpgroup.arrive is injected in around line 12 by compiler to allow use of registers in GMMA in function 'two'\n"
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Function properties for none\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 168 registers, used 1 barriers\n"
      "ptxas info    : Function properties for two\n"
      "    48 bytes stack frame, 40 bytes spill stores, 36 bytes spill loads\n"
      "ptxas info    : Function properties for three\n"
      "    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n");
  REQUIRE(slow.size() == 3);
  CHECK(slow[0].name == "one");
  REQUIRE(slow[0].held_up.size() == 1);
  CHECK(slow[0].held_up[0] == "wgmma.mma_async instructions are serialized due to insufficient register resources (C7510)");
  CHECK(slow[0].stack == 0);
  CHECK(slow[1].name == "two");
  CHECK(slow[1].held_up.size() == 1);
  CHECK(slow[1].stack == 48);
  CHECK(slow[1].stored == 40);
  CHECK(slow[1].loaded == 36);
  CHECK(slow[2].name == "three");
  CHECK(slow[2].stack == 16);
  CHECK(target::cuda::slow_functions("").empty());
  CHECK(target::cuda::slow_functions("    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n(C75").empty());
}

TEST_CASE("a reason that is told for many lines is told once, and few of them are") {
  std::string said;
  for (int i = 0; i < 20; ++i)
    said += "ptxas info    : (C7517) warpgroup.wait is injected in around line " + std::to_string(i / 2) + " by compiler in function 'f'\n";
  auto slow = target::cuda::slow_functions(said);
  REQUIRE(slow.size() == 1);
  CHECK(slow[0].held_up.size() == 4);
}

TEST_CASE("products that the assembler holds up and registers that ran out are remarks that name a tile") {
  Folder folder;
  folder.write("product.tile", kProduct);
  write_assembler(folder,
                  "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources in "
                  "the function 'product_0_launch0_sm_90a'\n"
                  "ptxas info    : Function properties for product_0_launch0_sm_90a\n"
                  "    48 bytes stack frame, 40 bytes spill stores, 36 bytes spill loads\n");
  Ran ran = folder.tilec("product.tile --emit=cubin --target=sm_90a --ptxas ./as -R all");
  CHECK_MESSAGE(ran.code == 0, ran.out);
  CHECK_MESSAGE(ran.says("product.tile:1:15: remark: the assembler holds up the matrix products of `product_0_launch0_sm_90a`, whose heaviest accumulator is `sum`, 64 "
                         "registers of each lane: wgmma.mma_async instructions are serialized due to insufficient register resources (C7510) [T0813, "), ran.out);
  CHECK_MESSAGE(ran.says("remark: the assembler gives each lane of `product_0_launch0_sm_90a` 48 bytes of stack, 40 stored and 36 loaded where registers ran out: "
                         "its heaviest tile is `sum`, 64 registers of each lane [T0814, "), ran.out);
  // Each in its group; none without one.
  ran = folder.tilec("product.tile --emit=cubin --target=sm_90a --ptxas ./as -R spill");
  CHECK_MESSAGE((ran.says("[T0814,") && !ran.says("[T0813,")), ran.out);
  CHECK(folder.tilec("product.tile --emit=cubin --target=sm_90a --ptxas ./as").out.empty());
  // An object's images are assembled as well.
  ran = folder.tilec("product.tile --target=x86-64,sm_90a --ptxas ./as -R tensor-core --prefix=my_");
  CHECK_MESSAGE(!ran.says("[T0813,"), ran.out);  // it is another function that the assembler speaks of
  ran = folder.tilec("product.tile --target=x86-64,sm_90a --ptxas ./as -R tensor-core");
  CHECK_MESSAGE(ran.times("[T0813,") == 1, ran.out);
}

TEST_CASE("of an export with several launches the one with most stack is told, the others beside") {
  Folder folder;
  folder.write("two.tile", "export kernel two(A: f32[N], inout B: f32[N]) {\n    launch (i in ceildiv(N, 64)) { let x = A.tile[64](i); B.tile(i) = x; }\n"
                           "    launch (i in ceildiv(N, 256)) { let y = A.tile[256](i); B.tile(i) = y; }\n}\n");
  write_assembler(folder, "Function properties for two_0_launch0_sm_80\n 8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                          "Function properties for two_0_launch1_sm_80\n 16 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n");
  Ran ran = folder.tilec("two.tile --emit=cubin --target=sm_80 --ptxas ./as -R spill");
  CHECK_MESSAGE(ran.says("each lane of `two_0_launch1_sm_80` 16 bytes of stack, 8 stored and 8 loaded where registers ran out: its heaviest tile is `y`"), ran.out);
  CHECK_MESSAGE(ran.says("note: `two_0_launch0_sm_80` as well: 8 bytes of stack, 0 stored and 0 loaded"), ran.out);
  CHECK_MESSAGE(ran.times("[T0814,") == 1, ran.out);
}

TEST_CASE("an assembler that cannot work on functions at once works on one after the other") {
  Folder folder;
  folder.write("copy.tile", "export kernel copy(A: f32[N], out B: f32[N]) {\n    launch (i in ceildiv(N, 64)) { B.tile[64](i) = A.tile(i); }\n}\n");
  folder.write("as", "#!/bin/sh\nfor w; do case $w in --split-compile*) echo \"ptxas fatal   : Unknown option '-split-compile'\"; exit 255;; esac; done\n"
                     "printf '\\177ELF image' > \"$4\"\n");
  folder.run("chmod +x as");
  Ran ran = folder.tilec("copy.tile --emit=cubin --target=sm_80 --ptxas ./as");
  CHECK_MESSAGE((ran.code == 0 && ran.out.empty()), ran.out);
  CHECK(folder.read("copy.cubin") == "\177ELF image");
}
