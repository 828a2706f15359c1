// What the command writes, and where: usual names, dependencies for Make, schedules, remarks, and the bundle that a mistake of
// its own leaves behind.

#include <doctest/doctest.h>

#include "command.h"
#include "patterns.h"

using namespace tilec::command;

namespace {

constexpr const char* kCopy = "export kernel copy(A: f32[N], out B: f32[N]) {\n    launch (i in N) { B[i] = A[i]; }\n}\n";
constexpr const char* kProduct = R"(export kernel product(A: f16[M, K], B: f16[K, N], out C: f32[M, N]) {
    launch (i in ceildiv(N, 32), j in ceildiv(M, 32)) threads 128 {
        var a: shared f16[32, 32];
        var b: shared f16[32, 32];
        var acc: fragment f32[32, 32] = 0;
        for k in pipelined(ceildiv(K, 32)) {
            a = A.tile(j, k);
            b = B.tile(k, i);
            acc += a @ b;
        }
        C.tile(j, i) = acc;
    }
}
)";

}  // namespace

TEST_CASE("C text goes to a file of C where nothing else is said") {
  Folder folder;
  folder.write("copy.tile", kCopy);
  Ran made = folder.tilec("copy.tile --target c");
  CHECK_MESSAGE(made.code == 0, made.out);
  CHECK_FALSE(std::filesystem::exists(folder.path / "copy.o"));
  CHECK(folder.run("cc -std=c11 -fsyntax-only copy.c").code == 0);
  std::filesystem::remove(folder.path / "copy.c");
}

TEST_CASE("dependencies name every target that was asked for, as Make reads names") {
  Folder folder;
  folder.write("twice.tile", "fn twice(x: f32) -> f32 = 2 * x;\n");
  folder.write("a$b#c d\\e.tile", "import \"twice.tile\" as t;\nexport kernel k(A: f32[N], out B: f32[N]) {\n    launch (i in N) { B[i] = t.twice(A[i]); }\n}\n");
  Ran made = folder.tilec("'a$b#c d\\e.tile' -o k.o -MD -MP -MT one -MT 'two three'");
  CHECK_MESSAGE(made.code == 0, made.out);
  CHECK(folder.read("k.d") == "one two three: a$$b\\#c\\ d\\e.tile twice.tile\n\ntwice.tile:\n");
  folder.write("Makefile", "one two three:\n\t@echo made\n-include k.d\n");
  if (folder.run("command -v make").code != 0) return;
  CHECK(folder.run("touch -d '2 hours ago' one 'two' three twice.tile 'a$b#c d\\e.tile' && make -s one two three && touch 'a$b#c d\\e.tile' && make -s one").out == "made\n");
}

TEST_CASE("what later targets will emit is not supported yet") {
  Folder folder;
  folder.write("copy.tile", kCopy);
  for (const char* kind : {"hip", "metal", "wgsl"}) {
    Ran ran = folder.tilec("copy.tile --emit=" + std::string(kind));
    CHECK(ran.code == 6);
    CHECK_MESSAGE(ran.says("`--emit=" + std::string(kind) + "` is not supported yet [T0900]"), ran.out);
  }
  Ran none = folder.tilec("copy.tile --emit=nonsense");
  CHECK(none.code == 2);
  CHECK_MESSAGE(none.says("'nonsense' is none of obj, asm"), none.out);
}

TEST_CASE("a schedule that is printed alone can be pasted") {
  Folder folder;
  folder.write("product.tile", kProduct);
  Ran printed = folder.tilec("product.tile --emit=schedule --target model");
  CHECK(printed.code == 0);
  CHECK_MESSAGE(printed.out.starts_with("schedule product for model {\n"), printed.out);
  CHECK_MESSAGE(printed.says("    pipeline "), printed.out);
  folder.write("pinned.tile", kProduct + printed.out);
  CHECK(folder.tilec("pinned.tile --emit=schedule --target model").out == printed.out);
}

TEST_CASE("a schedule for a target that nobody knows is an error") {
  Folder folder;
  folder.write("k.tile", std::string(kProduct) + "schedule product for modle { persistent; }\nschedule product for sm_90a, model, \"x86-64-v3\" { persistent; }\n");
  Ran ran = folder.tilec("check k.tile");
  CHECK(ran.code == 1);
  CHECK_MESSAGE(ran.says("k.tile:14:22: error: `modle` is not a target [T0602]"), ran.out);
  CHECK_MESSAGE(ran.says("did you mean `model`?"), ran.out);
  CHECK(ran.times("[T0602]") == 1);
}

TEST_CASE("remarks say how a product is computed and why no load runs ahead") {
  Folder folder;
  folder.write("product.tile", kProduct);
  Ran cpu = folder.tilec("product.tile -o p.o --target x86-64-v3 -R tensor-core -R pipeline");
  CHECK(cpu.code == 0);
  CHECK_MESSAGE(cpu.says("product.tile:6:9: remark: no load of this loop overlaps with its compute: x86-64-v3 has no copies that run ahead [T0803"), cpu.out);
  CHECK_MESSAGE(cpu.says("product.tile:9:13: remark: this product of `f16` and `f16` uses `"), cpu.out);
  CHECK(cpu.times("[T0801") == 0);
  Ran model = folder.tilec("explain product.tile --target model -R all");
  CHECK(model.times("[T0803") == 0);
}

TEST_CASE("a remark marks the tests that the main part of a loop is rid of") {
  Folder folder;
  folder.write("k.tile", "export kernel k(x: f32[N], out y: f32[32]) {\n    launch (i in 1) {\n        var sum: fragment f32[32] = 0;\n"
                         "        for k in 0..ceildiv(N, 32) { sum += x.tile[32](k); }\n        y.tile(0) = sum;\n    }\n}\n");
  Ran ran = folder.tilec("k.tile -o k.o --target x86-64-v3 -R schedule");
  CHECK(ran.code == 0);
  CHECK_MESSAGE(ran.says("k.tile:4:9: remark: this loop is split: its first part runs without the tests of its edge [T0807, -R schedule]"), ran.out);
  CHECK_MESSAGE(ran.says("not tested there"), ran.out);
}

TEST_CASE("`explain` tells what was proved of accesses, and which sums have no order") {
  Folder folder;
  folder.write("k.tile", "export kernel k(at: i32[N], x: f32[N], inout h: f32[M], inout n: i32[4]) {\n    launch (i in N) {\n"
                         "        atomic_add(h[at[i] as int], x[i]);\n        atomic_add(n[0], 1);\n    }\n}\n");
  Ran ran = folder.tilec("explain k.tile --target x86-64-v3");
  CHECK(ran.code == 0);
  CHECK_MESSAGE(ran.says("accesses: 3 proved to stay inside, 0 cut at an edge, 1 tested\n  tested at run time: `h` at k.tile:3\n"), ran.out);
  CHECK_MESSAGE(ran.says("in no fixed order: the sums in `h`, by atomics on floats at k.tile:3; calls need not give equal bits\n"), ran.out);
  CHECK(ran.times("in no fixed order") == 1);
}

TEST_CASE("arithmetic on floats is rearranged for `@fast_math` alone") {
  Folder folder;
  const std::string kernel = "export kernel k(A: f32[N], out B: f32[N], s: f32) {\n    launch (i in N) { B[i] = A[i] + s + s; }\n}\n";
  folder.write("plain.tile", kernel);
  folder.write("fast.tile", "@fast_math\n" + kernel);
  const std::string as_text = " --emit=llvm-ir --target x86-64-v3 | grep -c 'fadd reassoc'";
  CHECK(folder.run("'" TILEC_BINARY "' plain.tile" + as_text).out == "0\n");
  CHECK(folder.run("'" TILEC_BINARY "' fast.tile" + as_text).out != "0\n");
}

TEST_CASE("a mistake of its own leaves a bundle that runs the command again") {
  Folder folder;
  folder.write("copy.tile", "import \"twice.tile\" as t;\nexport kernel copy(A: f32[N], out B: f32[N]) {\n    launch (i in N) { B[i] = t.twice(A[i]); }\n}\n");
  folder.write("twice.tile", "fn twice(x: f32) -> f32 = 2 * x;\n");
  // The header is written aside before the object goes to a pipe that nobody reads: there the signal finds it.
  Ran ran = folder.run("exec 2>&1; export TMPDIR=\"$PWD\"; rm -rf tilec-bundle-* p h.h tilec; mkfifo p; ln -s '" TILEC_BINARY "' tilec\n"
                       "./tilec copy.tile --header h.h -o p & pid=$!\nuntil ls h.h.tmp* > ls.txt 2>&1; do sleep 0.01; done; kill -SEGV $pid\nwait $pid; echo \"code $?\"");
  CHECK_MESSAGE(ran.says("tilec: internal error: Segmentation fault"), ran.out);
  CHECK_MESSAGE(ran.says("/again.sh reproduces this"), ran.out);
  CHECK_MESSAGE(ran.says("code 4\n"), ran.out);
  Ran again = folder.run("rm -f copy.tile twice.tile p h.h*; sh tilec-bundle-*/again.sh && find tilec-bundle-*/files -name h.h | grep -c h.h");
  CHECK_MESSAGE(again.out == "1\n", again.out);
}

TEST_CASE("where one output cannot be written, none is replaced") {
  Folder folder;
  folder.write("copy.tile", "export kernel copy(A: f32[N], out B: f32[N]) {\n    launch (i in N) { B[i] = A[i]; }\n}\n");
  folder.write("copy.h", "an older header");
  Ran ran = folder.tilec("copy.tile -o copy.o --header copy.h --manifest /dev/full");
  CHECK_MESSAGE(ran.code == 3, ran.out);
  CHECK(folder.run("cat copy.h; ls").out.find("an older header") == 0);
  CHECK(folder.run("ls | grep -c 'copy.o\\|tmp'").out == "0\n");
}

TEST_CASE("kernels for threads are text that says how they are launched") {
  Folder folder;
  folder.write("k.tile", std::string(kProduct) + "export kernel tell(x: u8[N], inout bins: i32[256]) {\n"
               "    launch (b in ceildiv(N, 4096)) threads 256 {\n        simt (t) {\n"
               "            for i in range(b * 4096 + t, min(N, (b + 1) * 4096), threads) { atomic_add(bins[x[i] as int], 1); }\n        }\n    }\n}\n");
  for (const char* machine : {"sm_80", "sm_89", "sm_90a"}) {
    Ran ran = folder.tilec("k.tile --emit=ptx -o - --target=" + std::string(machine));
    CHECK_MESSAGE(ran.code == 0, ran.out);
    CHECK_MESSAGE(ran.says(".target " + std::string(machine)), ran.out);
    CHECK_MESSAGE(ran.says("// tell_0_launch0_" + std::string(machine) + ": 256 threads; 0 bytes of shared memory; blocks ((N + 4095) / 4096); slots x, bins, N"), ran.out);
    CHECK_MESSAGE(ran.says("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"), ran.out);
    CHECK_MESSAGE(ran.says("atom.global.add"), ran.out);
    CHECK_FALSE(ran.says(".local"));  // no thread keeps arrays of its own here
    if (folder.run("command -v ptxas || test -x /usr/local/cuda/bin/ptxas").code != 0) continue;
    ran = folder.run("PATH=$PATH:/usr/local/cuda/bin; '" TILEC_BINARY "' k.tile --emit=ptx -o k.ptx --target=" + std::string(machine) +
                     " && ptxas -v -arch=" + machine + " k.ptx -o k.cubin");
    CHECK_MESSAGE(ran.code == 0, ran.out);
    CHECK_MESSAGE(ran.times("0 bytes spill stores") == (machine == std::string("sm_90a") ? 3 : 2), ran.out);  // one copies tensors for the engine
  }
}

TEST_CASE("products of four warps find their operands by descriptors, and are awaited") {
  Folder folder;
  auto product = [](const std::string& name, const std::string& type, const std::string& a, const std::string& b, const std::string& what) {
    return "export kernel " + name + "(A: " + type + "[" + a + "], B: " + type + "[" + b + "], out C: f32[M, N]) {\n"
           "    launch (i in ceildiv(N, 128), j in ceildiv(M, 128)) threads 256 {\n        var acc: fragment f32[128, 128] = 0;\n"
           "        for k in pipelined(ceildiv(K, 64), stages = 3) { " + what + " }\n        C.tile(j, i) = acc;\n    }\n}\n";
  };
  const std::string rows = "var a: shared f16[128, 64] = A.tile(j, k); ", columns = "var b: shared f16[64, 128] = B.tile(k, i); ";
  folder.write("k.tile", product("plain", "f16", "M, K", "K, N", rows + columns + "acc += a @ b;") +
                             product("turned", "f16", "K, M", "N, K", "var a: shared f16[64, 128] = A.tile(k, j); var b: shared f16[128, 64] = B.tile(i, k); acc += a.T @ b.T;") +
                             product("of_registers", "f16", "M, K", "K, N", rows + columns + "acc += (a * 2) @ b;") +
                             product("of_bytes", "f8e4m3", "M, K", "N, K", "var a: shared f8e4m3[128, 64] = A.tile(j, k); var b: shared f8e4m3[128, 64] = B.tile(i, k); acc += a @ b.T;"));
  Ran ran = folder.tilec("k.tile --emit=ptx -o k.ptx --target=sm_90a && cat k.ptx");
  REQUIRE_MESSAGE(ran.code == 0, ran.out);
  const std::string statement = R"(wgmma\.mma_async\.sync\.aligned\.m64n128k)";
  auto has = [&](const std::string& rest) { return tilec::testing::is_found(ran.out, statement + rest); };
  CHECK(has(R"(16\.f32\.f16\.f16 \{[^}]*\}, %rd\d+, %rd\d+, p, 1, 1, 0, 1; \})"));                       // rows of A along k, of B along n
  CHECK(has(R"(16\.f32\.f16\.f16 \{[^}]*\}, %rd\d+, %rd\d+, p, 1, 1, 1, 0; \})"));
  CHECK(has(R"(16\.f32\.f16\.f16 \{[^}]*\}, \{%r\d+, %r\d+, %r\d+, %r\d+\}, %rd\d+, p, 1, 1, 1; \})"));
  CHECK(has(R"(32\.f32\.e4m3\.e4m3 \{[^}]*\}, %rd\d+, %rd\d+, p, 1, 1; \})"));
  CHECK(ran.says("fence.proxy.async.shared::cta;"));
  CHECK(ran.says("wgmma.wait_group.sync.aligned 1;"));
  CHECK_FALSE(ran.says("mma.sync"));
  if (folder.run("command -v ptxas || test -x /usr/local/cuda/bin/ptxas").code != 0) return;
  ran = folder.run("PATH=$PATH:/usr/local/cuda/bin; ptxas -v -arch=sm_90a k.ptx -o k.cubin");
  CHECK_MESSAGE(ran.times("0 bytes spill stores") == 5, ran.out);  // one of them copies tensors for the engine
  CHECK_FALSE(ran.says("(C75"));  // what serialises products
}

TEST_CASE("a launch awaits the one before it where it first reaches out of its block") {
  Folder folder;
  folder.write("k.tile", "export kernel product(A: f16[M, K], B: f16[K, N], out C: f32[M, N]) {\n"
                         "    launch (i in ceildiv(N, 32), j in ceildiv(M, 64)) threads 128 split 2 {\n"
                         "        var a: shared f16[64, 64]; var b: shared f16[64, 32]; var c: fragment f32[64, 32] = 0;\n"
                         "        for k in pipelined(ceildiv(K, 64), stages = 3) { a = A.tile(j, k); b = B.tile(k, i); c += a @ b; }\n"
                         "        C.tile(j, i) = c;\n    }\n}\n"
                         "export kernel sums(A: f32[N], out B: f32[N]) {\n    launch (i in ceildiv(N, 256)) { B.tile[256](i) = A.tile(i) + 1; }\n}\n"
                         "export kernel marks(out B: i32[N]) {\n    launch (i in ceildiv(N, 256)) { B.tile[256](i) = 1; }\n}\n");
  Ran ran = folder.tilec("k.tile --emit=ptx -o - --target=sm_90a");
  REQUIRE_MESSAGE(ran.code == 0, ran.out);
  auto body = [&](const std::string& name) {
    size_t from = ran.out.find(".entry " + name);
    return ran.out.substr(from, ran.out.find("\n}\n", from) - from);
  };
  const std::string product = body("product_0"), sums = body("sums_0"), marks = body("marks_0"), awaits = "griddepcontrol.wait; griddepcontrol.launch_dependents;";
  for (const std::string& text : {product, sums, marks}) {
    REQUIRE(text.find(awaits) != text.npos);
    CHECK(text.find(awaits) == text.rfind(awaits));
  }
  size_t at = product.find(awaits);
  CHECK(product.rfind("mbarrier.init") < at);
  CHECK(product.find("barrier.cluster.arrive") < at);
  CHECK(at < product.find("cp.async.bulk.tensor"));
  CHECK(sums.find(awaits) < sums.find("ld.global"));
  CHECK(marks.find(awaits) < marks.find("st.global"));
}

TEST_CASE("what is an instruction of its own is one") {
  Folder folder;
  auto text_of = [&](const std::string& type, const char* target) {
    folder.write("k.tile", "export kernel k(A: " + type + "[N], out B: " + type + "[N]) {\n    launch (i in ceildiv(N, 256)) { B.tile[256](i) = exp2(A.tile(i)); }\n}\n");
    return folder.tilec("k.tile --emit=ptx -o - --target=" + std::string(target));
  };
  for (const char* target : {"sm_80", "sm_90a"}) {
    CHECK(text_of("f32", target).times("ex2.approx.ftz.f32") == 2);
    CHECK(text_of("f16", target).times("ex2.approx.ftz.f32") > 1);  // computed in f32
    CHECK(text_of("f64", target).times("ex2.approx") == 0);
  }
}

TEST_CASE("what crosses lanes that are threads names those that take part") {
  Folder folder;
  folder.write("part.tile",
               "export kernel part(x: i32[N], out y: i32[N]) {\n    launch (b in ceildiv(N, 32)) threads 32 {\n        simt (t) {\n"
               "            let k = b * 32 + t;\n            var r = warp_max(t as i32);\n            if k < N { r = r + warp_sum(x[k]); y[k] = r; }\n        }\n    }\n}\n");
  Ran ran = folder.tilec("part.tile --emit=ptx -o - --target=sm_80");
  CHECK_MESSAGE(ran.code == 0, ran.out);
  CHECK(ran.times("shfl.sync.bfly.b32") == 5);   // all lanes, to the greatest
  CHECK(ran.times("vote.sync.ballot.b32") == 1);  // who goes into the branch,
  CHECK(ran.times("shfl.sync.idx.b32") == 1);    // and one after the other to the sum
  CHECK(ran.times("31, -1;") == 5);
  Ran two = folder.tilec("part.tile --emit=ptx -o - --target=sm_80,sm_90a");
  CHECK(two.code == 2);
  CHECK_MESSAGE(two.says("one `ptx` is for one machine; 2 are named"), two.out);
}

TEST_CASE("an image is made by a program of others, which is told where it fails") {
  Folder folder;
  folder.write("copy.tile", kCopy);
  auto assembled_by = [&](const std::string& script, const std::string& more) {
    folder.write("as", "#!/bin/sh\n" + script + "\n");
    folder.run("chmod +x as; rm -f copy.cubin");
    return folder.tilec("copy.tile --emit=cubin --target=sm_80 --ptxas \"$PWD/as\" " + more);
  };
  // -arch=MACHINE TEXT -o IMAGE is not the order of every assembler, but of this one.
  Ran ran = assembled_by("[ $1 = -arch=sm_80 ] && grep -q .target $2 && [ $3 = -o ] && printf '\\177ELF image' > $4", "");
  CHECK_MESSAGE(ran.code == 0, ran.out);
  CHECK(folder.read("copy.cubin") == "\177ELF image");
  ran = assembled_by("echo 'line 7: no such register' >&2; exit 1", "");
  CHECK_MESSAGE(ran.code == 3, ran.out);
  CHECK_MESSAGE(ran.says("error: no `cubin` for `sm_80`: `"), ran.out);
  CHECK_MESSAGE(ran.says("/as` ended with 1: line 7: no such register [T0605]"), ran.out);
  CHECK(folder.run("ls copy.cubin").code != 0);
  ran = assembled_by("exit 0", "");
  CHECK_MESSAGE(ran.says("/as` made no file [T0605]"), ran.out);
  ran = assembled_by("printf '\\n\\033[31m%s\\n' red >&2; kill -9 $$", "");
  CHECK_MESSAGE(ran.code == 3, ran.out);
  CHECK_MESSAGE(ran.says("/as` was ended by signal 9: [31mred [T0605]"), ran.out);
  ran = assembled_by("echo text > $4", "");
  CHECK_MESSAGE((ran.code == 3 && ran.says("made a file that is no image")), ran.out);
  ran = assembled_by("echo \"ptxas $2, line 3; error\"; exit 2", "");
  CHECK_MESSAGE(ran.says("/as` ended with 2: ptxas its text, line 3; error [T0605]"), ran.out);
  // Nothing is left of its files, however the compiler ends.
  ran = folder.run("exec 2>/dev/null; mkdir parts; export TMPDIR=$PWD/parts; printf '#!/bin/sh\\ntouch came; sleep 1\\n' > as; '" TILEC_BINARY
                   "' copy.tile --emit=cubin --target=sm_80 --ptxas \"$PWD/as\" & while [ ! -e came ]; do sleep 0.05; done; kill $!; wait $!; echo $? and $(ls parts).");
  CHECK_MESSAGE(ran.says("143 and ."), ran.out);
  // Whatever is closed, ignored or taken around it.
  folder.write("as", "#!/bin/sh\nexec 3>>log 4>>log\n[ \"$(cat)\" = '' ] && grep -q .target $2 && printf '\\177ELF image' > $4\n");
  for (const char* around : {"<&- >&- 2>&-", ">&-", "2>&-", "3>kept 4>kept"}) {
    ran = folder.run("rm -f copy.cubin; echo words | '" TILEC_BINARY "' copy.tile --emit=cubin --target=sm_80 --ptxas \"$PWD/as\" " + std::string(around) + "; echo code $?");
    CHECK_MESSAGE((ran.says("code 0") && folder.read("copy.cubin") == "\177ELF image" && folder.read("log").empty()), around << ran.out);
  }
  ran = folder.run("trap '' CHLD; exec '" TILEC_BINARY "' copy.tile --emit=cubin --target=sm_80 --ptxas \"$PWD/as\"");
  CHECK_MESSAGE(ran.code == 0, ran.out);
  ran = assembled_by("printf '\\377bad'; head -c 3000000 /dev/zero | tr '\\0' x; exit 1", "");
  CHECK_MESSAGE((ran.says("ended with 1: badxxx") && ran.out.size() < 1000), ran.out.size());
  // One that does not know the option that a new one is given.
  ran = assembled_by("case \"$*\" in *split-compile*) echo 'split-compile: unknown'; printf junkjunkjunk > $4; exit 1;; esac; printf '\\177ELF image' > $4", "");
  CHECK_MESSAGE((ran.code == 0 && folder.read("copy.cubin") == "\177ELF image"), ran.out);
  folder.write("as", "no program");
  ran = folder.tilec("copy.tile --emit=cubin --target=sm_80 --ptxas \"$PWD/as\"");
  CHECK_MESSAGE((ran.code == 3 && ran.says("/as` cannot be started: Exec format error")), ran.out);
  ran = assembled_by("exit 0", "--target=sm_90a");
  CHECK_MESSAGE(ran.code == 2, ran.out);
  CHECK_MESSAGE(ran.says("one `cubin` is for one machine"), ran.out);
  ran = folder.tilec("copy.tile --emit=cubin --target=sm_80 --ptxas none");
  CHECK_MESSAGE(ran.says("`none` is no program"), ran.out);
  ran = folder.run("{ PATH=/nowhere '" TILEC_BINARY "' copy.tile --emit=cubin --target=sm_80; ls /usr/local/cuda/bin/ptxas /opt/cuda/bin/ptxas; }");
  CHECK_MESSAGE((ran.says("no `ptxas` is found in PATH") || ran.says("/bin/ptxas\n")), ran.out);
}

TEST_CASE("parts of the compiler are loaded when they are needed, and missed with a message") {
  Folder folder;
  folder.write("copy.tile", "export kernel copy(A: f32[N], out B: f32[N]) {\n    launch (i in N) { B[i] = A[i]; }\n}\n");
  folder.run("mkdir -p bin lib/tilec && cp '" TILEC_BINARY "' bin/tilec");
  CHECK(folder.run("bin/tilec check copy.tile").code == 0);
  Ran ran = folder.run("bin/tilec copy.tile -o copy.o");
  CHECK_MESSAGE(ran.says("tilec: cannot load "), ran.out);
  CHECK_MESSAGE(ran.says("lib/tilec/libtilec-native.so: cannot open shared object file"), ran.out);
  CHECK(ran.code == 3);
  CHECK(folder.run("ls copy.o").code != 0);

  const std::string hard = "bin/tilec check '" TILEC_TESTS "/proofs/lanes.tile'";  // questions for the solver
  ran = folder.run(hard);
  CHECK_MESSAGE(ran.says("lib/tilec/libtilec-solver.so: cannot open shared object file"), ran.out);
  CHECK(ran.code == 3);
  ran = folder.run("cp '" + std::filesystem::path(TILEC_BINARY).parent_path().string() + "/../lib/tilec/libtilec-native.so' lib/tilec/libtilec-solver.so; " + hard);
  CHECK_MESSAGE(ran.says("libtilec-solver.so: it is no part of tilec"), ran.out);
  CHECK(ran.code == 3);
}
