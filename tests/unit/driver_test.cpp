// The command as its users call it: the built tilec on files in a folder of its own.
#include <doctest/doctest.h>

#include <filesystem>

#include "base/text.h"
#include "command.h"
#include "patterns.h"
#include "diag/json.h"

using namespace tilec;
using namespace tilec::command;

namespace {

constexpr const char* kCopy = "// B = A\nexport kernel copy(A: f32[N], out B: f32[N]) {\n    launch (i in N) { B[i] = A[i]; }\n}\n";
constexpr const char* kMistakes =
    "export kernel f(A: f32[N], out B: f32[N]) {\n    launch (i in N) {\n        B[i] = A[i + 1];\n    }\n}\n"
    "export kernel g(A: f32[N], inout s: f32[1]) {\n    launch (i in N) { s[0] = s[0] + A[i]; }\n}\n"
    "export kernel h(A: f32[M, N], out B: f32[M]) {\n    launch (i in ceildiv(M, 64)) {\n"
    "        var s: fragment f32[64, 128] = A.tile(i, 0, pad = 0);\n        B.tile(i) = s.max(axis = 1);\n    }\n}\n";

}  // namespace

TEST_CASE("several mistakes of one file, as text, JSON and SARIF") {
  Folder folder;
  folder.write("bad.tile", kMistakes);
  Ran text = folder.tilec("check bad.tile");
  CHECK(text.code == 1);
  for (const char* part : {"bad.tile:3:16: error: this access leaves `A`: for N = 1, i = 0 the index 1 is not below 1 [T0400]", "[T0401]",
                           "[T0404]", "3 errors"})
    CHECK_MESSAGE(text.out.find(part) != std::string::npos, text.out);

  Ran lines = folder.tilec("check --diagnostics-format=json bad.tile");
  CHECK(lines.code == 1);
  std::vector<std::string> codes;
  for (const std::string& line : split(trim(lines.out), '\n')) {
    auto json = Json::parse(line);
    REQUIRE_MESSAGE(json, line);
    codes.push_back(*(*json)["code"].as_string());
    CHECK((*json)["span"].text().find("bad.tile") != std::string::npos);
  }
  CHECK(join(codes, " ") == "T0400 T0401 T0404");

  auto sarif = Json::parse(folder.tilec("check --diagnostics-format=sarif bad.tile").out);
  REQUIRE(sarif);
  const Json& run = (*sarif)["runs"][0];
  CHECK((*sarif)["version"].text() == "\"2.1.0\"");
  CHECK(run["tool"]["driver"]["name"].text() == "\"tilec\"");
  for (size_t i = 0; i < 3; ++i) {
    CHECK(run["results"][i]["ruleId"].text() == "\"" + codes[i] + "\"");
    const Json& place = run["results"][i]["locations"][0]["physicalLocation"];
    CHECK(place["artifactLocation"]["uri"].text() == "\"bad.tile\"");
    CHECK(place["region"]["startLine"].as_integer().value_or(0) > 0);
  }
  CHECK(run["results"][3].is_null());
}

TEST_CASE("the limit of errors") {
  Folder folder;
  folder.write("bad.tile", kMistakes);
  Ran one = folder.tilec("check --error-limit=1 bad.tile");
  CHECK(one.code == 1);
  CHECK(one.out.find("[T0400]") != std::string::npos);
  CHECK(one.out.find("[T0401]") == std::string::npos);
  CHECK_MESSAGE(one.out.find("[T0901]") != std::string::npos, one.out);
}

TEST_CASE("what keeps the command from its work has a code and an exit code") {
  Folder folder;
  folder.write("a.tile", kCopy);
  auto gives = [&](const std::string& words, int code, const char* part) {
    Ran ran = folder.tilec(words);
    CHECK_MESSAGE(ran.code == code, words << "\n" << ran.out);
    CHECK_MESSAGE(ran.out.find(part) != std::string::npos, words << "\n" << ran.out);
  };
  gives("check none.tile", 3, "cannot read `none.tile`: No such file or directory [T0600]");
  gives("a.tile -o none/a.o", 3, "[T0601]");
  gives("a.tile --target=x86-64-v9", 6, "`x86-64-v9` is not a target [T0602]");
  gives("a.tile --target=c --emit=asm", 6, "the target `c` cannot emit `asm` [T0603]");
  gives("check a.tile --no-such-option", 2, "--no-such-option");
  gives("check a.tile -Wno-such", 2, "there is no warning or remark");
  gives("a.tile --target=x86-64-v3,gfx942", 6, "the target `gfx942` is not supported yet [T0900]");
  gives("a.tile --target=c,sm_90a", 6, "one output for `c` and `sm_90a` is not supported yet [T0900]");
  gives("a.tile --target=x86-64-v3,c", 6, "'c' cannot go into one output with 'x86-64-v3'");
  gives("a.tile --target=sm_90a,", 6, "`` is not a target [T0602]");
  gives("a.tile --target=,x86-64", 6, "`` is not a target [T0602]");
  gives("a.tile --target=x86-64,sm_90a --ptxas ''", 2, "--ptxas: it names no program");
  gives("a.tile --target=cubin:sm_90a", 6, "`cubin:sm_90a` is not a target [T0602]");
  gives("a.tile --target=x86-64,sm_90a --ptxas=./none", 3, "error: no `cubin` for `sm_90a`: `./none` is no program [T0605]");
  gives("a.tile --target=sm_90a --emit=asm", 6, "the target `sm_90a` cannot emit `asm` [T0603]");
  gives("a.tile --target=ptx:sm_90a --emit=cubin", 2, "'ptx:sm_90a' is text alone; a `cubin` is for 'sm_90a'");
  gives("a.tile -o q.o --header ./q.o", 2, "`./q.o` would be written over");
  gives("a.tile -o q.o --header q.h --manifest \"$PWD/q.h\"", 2, "would be written over");
  gives("--target= a.tile", 2, "'--target=' has no value");
  gives("a.tile --target=ptx:sm_90a,sm_90a --ptxas=./none", 3, "`./none` is no program");
  gives("check a.tile --stop-after foo", 2, "--stop-after");
  gives("a.tile --stop-after foo", 2, "foo not in {");
  gives("a.tile --prefix 1x", 2, "'1x' cannot begin a name in C");
  gives("bench a.tile", 2, "'bench' is not supported yet");
  gives("chek a.tile", 2, "there is no verb and no file 'chek'; did you mean 'check'?");
  gives("inspect a.tile", 3, "it is no object of tilec's");
}

TEST_CASE("one object holds the code of a host and of devices") {
  Folder folder;
  folder.write("a.tile", kCopy);
  folder.write("ptxas", "#!/bin/sh\nprintf '\\177ELF Cuda compilation tools, release 99.9, V99.9.1' > $4\n");
  Ran ran = folder.run("chmod +x ptxas");
  REQUIRE(folder.tilec("a.tile --target=ptx:sm_80,x86-64-v3,sm_90a --ptxas=./ptxas").code == 0);
  Ran inspected = folder.tilec("inspect a.o");
  CHECK_MESSAGE(inspected.out.find("machines   sm_90a, sm_80, x86-64-v3") != std::string::npos, inspected.out);
  CHECK_MESSAGE(tilec::testing::is_found(inspected.out, "image      sm_80: [0-9]+ bytes of text\n"), inspected.out);
  CHECK_MESSAGE(tilec::testing::is_found(inspected.out, "image      sm_90a: [0-9]+ bytes of text, 50 bytes of code by ptxas 99.9\n"), inspected.out);
  Ran header = folder.run("cat a.h");
  CHECK_MESSAGE(header.out.find("struct CUstream_st *stream") != std::string::npos, header.out);
  // Without a host, this computer's launches.
  REQUIRE(folder.tilec("a.tile --target=ptx:sm_80 -o only.o").code == 0);
  CHECK(folder.run("nm only.o | grep -c ' T copy'").code == 0);
  // The driver is looked for at run time; where there are no images, not even that.
  CHECK(folder.run("nm -u a.o | grep -c dlopen").code == 0);
  REQUIRE(folder.tilec("a.tile --target=x86-64 -o cpu.o").code == 0);
  CHECK(folder.run("nm -u cpu.o | grep -c dlopen").code == 1);
}

TEST_CASE("an export does not take the place of a function that every program has") {
  Folder folder;
  for (const char* name : {"main", "malloc", "free", "printf", "memcpy", "pthread_create", "pthread_mutex_lock", "sched_yield", "sysconf", "sinf", "sqrtl",
                           "fmaxf", "aligned_alloc", "snprintf", "strlen", "select", "atomic_load", "thrd_create", "exit", "read", "clock_gettime", "_end", "_init", "_x"}) {
    folder.write("a.tile", "export kernel " + std::string(name) + "(A: f32[N], out B: f32[N]) {\n    launch (i in N) { B[i] = A[i]; }\n}\n");
    Ran ran = folder.tilec("check a.tile");
    CHECK_MESSAGE((ran.code == 1 && ran.says("a.tile:1:15: error: `" + std::string(name) + "` is not allowed as the name of an export, because C or its headers have it already")), ran.out);
    CHECK_MESSAGE(folder.tilec("a.tile --prefix my_").code == 0, name);
  }
  folder.write("b.tile", "kernel k(A: f32[N], out B: f32[N]) {\n    launch (i in N) { B[i] = A[i]; }\n}\nexport k as puts;\nexport k as scale;\nexport k as softmax;\n");
  Ran ran = folder.tilec("check b.tile");
  CHECK_MESSAGE((ran.says("b.tile:4:8: error: `puts`") || ran.says("b.tile:4:13: error: `puts`")), ran.out);
  CHECK_MESSAGE(!ran.says("error: `scale`") , ran.out);
}

TEST_CASE("exports get names that C leaves to them") {
  Folder folder;
  const std::string rest = "(A: f32[N], out B: f32[N]) {\n    launch (i in N) { B[i] = A[i]; }\n}\n";
  folder.write("a.tile", "export kernel round" + rest + "export kernel f" + rest + "export kernel f_load" + rest + "export kernel tile1_x" + rest);
  for (const char* words : {"check a.tile", "a.tile"}) {
    Ran ran = folder.tilec(words);
    CHECK(ran.code == 1);
    CHECK_MESSAGE(ran.out.find("a.tile:1:15: error: `round` is not allowed as the name of an export, because C or its headers have it already [T0123]") != std::string::npos, ran.out);
    CHECK_MESSAGE(ran.out.find("a.tile:7:15: error: two exports are named `f_load` [T0604]") != std::string::npos, ran.out);
    CHECK_MESSAGE(ran.out.find("a.tile:10:15: error: `tile1_x` is not allowed as the name of an export, because names that begin with `tile1_` are the run time's") != std::string::npos, ran.out);
  }
  Ran prefixed = folder.tilec("a.tile --prefix my_");
  CHECK_MESSAGE(prefixed.out.find("two exports are named `my_f_load`") != std::string::npos, prefixed.out);
  CHECK_MESSAGE(prefixed.out.find("is not allowed") == std::string::npos, prefixed.out);
}

TEST_CASE("what cannot be written is told, whoever writes it") {
  Folder folder;
  folder.write("a.tile", kCopy);
  for (const char* words : {"run a.tile", "explain a.tile --target=x86-64", "--print-targets", "--version", "doctor"}) {
    Ran ran = folder.run("{ '" TILEC_BINARY "' " + std::string(words) + " 2>&1 >/dev/full; }");
    CHECK_MESSAGE((ran.code == 3 && ran.says("cannot write `standard output`: No space left on device [T0601]")), words << "\n" << ran.out);
  }
}

TEST_CASE("what tilec says of itself") {
  Folder folder;
  CHECK(folder.tilec("--print-targets").says("x86-64-v3\n"));
  CHECK(folder.tilec("--print-targets").says("\nsm_80\nptx:sm_80\n"));
  auto targets = Json::parse(folder.tilec("--print-targets=json").out);
  REQUIRE(targets);
  CHECK((*targets)[0]["machines"][0].as_string());
  auto version = Json::parse(folder.tilec("--version=json").out);
  REQUIRE(version);
  CHECK("tilec " + *(*version)["version"].as_string() + "\n" == folder.tilec("--version").out);
  CHECK(folder.tilec("--print-passes").out.find("clip: ") != std::string::npos);
}

TEST_CASE("an object, its header, its dependencies for Make, and what inspect says of it") {
  Folder folder;
  folder.write("my copy.tile", kCopy);
  Ran made = folder.tilec("'my copy.tile' --target=x86-64-v3 -o 'my copy.o' --header copy.h -MD -MF copy.d -MP");
  CHECK_MESSAGE(made.code == 0, made.out);
  CHECK(made.out == "");
  CHECK(folder.read("copy.d") == "my\\ copy.o copy.h: my\\ copy.tile\n");
  CHECK(folder.read("copy.h").find("copy(") != std::string::npos);
  Ran inspected = folder.tilec("inspect 'my copy.o'");
  CHECK(inspected.code == 0);
  for (const char* part : {"copy(A: f32[N], out B: f32[N])", "x86-64-v3", "ABI 1"})
    CHECK_MESSAGE(inspected.out.find(part) != std::string::npos, inspected.out);
  CHECK(Json::parse(folder.tilec("inspect --json 'my copy.o'").out).has_value());
}

TEST_CASE("outputs stand together or not at all, and over nothing that was read") {
  Folder folder;
  folder.write("copy.tile", kCopy);
  Ran full = folder.tilec("copy.tile -o copy.o --header /dev/full");
  CHECK(full.code == 3);
  CHECK(full.out.find("cannot write `/dev/full`") != std::string::npos);
  for (std::string words : {"copy.tile --emit=asm", "fmt copy.tile"}) {
    Ran out = folder.run("('" TILEC_BINARY "' " + words + " 2>&1 > /dev/full)");
    CHECK(out.code == 3);
    CHECK(out.out.find("cannot write `standard output`: No space left on device") != std::string::npos);
  }
  CHECK_FALSE(std::filesystem::exists(folder.path / "copy.o"));
  for (const char* words : {"copy.tile -o ./copy.tile", "copy.tile -o x --header x", "copy.tile -o copy.o -MD -MF copy.o", "copy.tile --header copy.tile -o y"}) {
    Ran ran = folder.tilec(words);
    CHECK(ran.code == 2);
    CHECK_MESSAGE(ran.out.find("would be written over") != std::string::npos, ran.out);
  }
  CHECK(folder.read("copy.tile") == kCopy);
  CHECK_FALSE(std::filesystem::exists(folder.path / "x"));
  CHECK(folder.tilec("copy.tile -o /dev/null --header /dev/null").code == 0);
}

TEST_CASE("tensors that no interpreter holds are refused") {
  Folder folder;
  folder.write("copy.tile", kCopy);
  for (const char* dim : {"N=99999999999", "N=2147483647"}) {
    Ran ran = folder.tilec("run copy.tile --dim " + std::string(dim));
    CHECK(ran.code == 2);
    CHECK_MESSAGE(ran.out.find("too large to be interpreted") != std::string::npos, ran.out);
  }
}

TEST_CASE("a file that ends where a name should be") {
  Folder folder;
  folder.write("cut.tile", "export kernel");
  Ran ran = folder.tilec("check cut.tile");
  CHECK(ran.code == 1);
  CHECK_MESSAGE(ran.out.find("cut.tile:1:14: error: expected a name") != std::string::npos, ran.out);
}

TEST_CASE("an accumulator in flight has a layout that can be told") {
  Folder folder;
  folder.write("wide.tile",
               "export kernel wide(A: f16[M, K], B: f16[K, N], out C: f16[M, N]) {\n"
               "    launch (i in ceildiv(N, 256), j in ceildiv(M, 128)) threads 256 {\n"
               "        var a: shared f16[128, 64];\n        var b: shared f16[64, 256];\n"
               "        var acc: fragment f32[128, 256] = 0;\n"
               "        for k in pipelined(ceildiv(K, 64)) { a = A.tile(j, k); b = B.tile(k, i); acc += a @ b; }\n"
               "        C.tile(j, i) = acc as f16;\n    }\n}\n");
  Ran ran = folder.tilec("explain --target model wide.tile");
  CHECK(ran.code == 0);
  CHECK_MESSAGE(ran.out.find("layout acc: reg(") != std::string::npos, ran.out);
}
