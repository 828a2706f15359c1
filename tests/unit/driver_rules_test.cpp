// The rules of the command line: where output goes and where none does, time stamps, the same bytes, warnings as asked for,
// exit codes of every verb.
#include <doctest/doctest.h>

#include "base/text.h"
#include "command.h"
#include "diag/json.h"

using namespace tilec;
using namespace tilec::command;

namespace {

constexpr const char* kUnused = "export kernel copy(A: f32[N], out B: f32[N]) {\n    launch (i in N) {\n        let unused = 1;\n        B[i] = A[i];\n    }\n}\n";
constexpr const char* kUgly = "export   kernel copy( A:f32[N],out B:f32[N]){launch(i in N){B[i]=A[i];}}";

const std::string kTilec = "'" TILEC_BINARY "'";

}  // namespace

TEST_CASE("nothing but what was asked for goes to standard output") {
  Folder folder;
  folder.write("copy.tile", kUnused);
  folder.write("bad.tile", "export kernel copy(A: f32[N]) {\n    launch (i in N) { A[i] = ; }\n}\n");
  for (const char* words : {"copy.tile -o copy.o", "check copy.tile", "check bad.tile", "check none.tile", "bad.tile --emit=tile-ir", "copy.tile --bogus",
                            "check --diagnostics-format=json bad.tile", "check --diagnostics-format=sarif bad.tile", "inspect none.o"}) {
    Ran ran = folder.run(kTilec + " " + words + " 2> /dev/null; true");
    CHECK_MESSAGE(ran.out == "", words << "\n" << ran.out);
  }
  CHECK(folder.run(kTilec + " copy.tile --emit=header -o - 2> /dev/null; true").says("tile_status copy("));
}

TEST_CASE("-o names the object, beside which the header stands, an unchanged header keeps its time stamp, and nothing is left beside them") {
  Folder folder;
  std::filesystem::create_directory(folder.path / "outputs");
  folder.write("outputs/copy.tile", kUnused);
  CHECK(folder.run("cd outputs && " + kTilec + " -w copy.tile -o some.o && ls").out == "copy.tile\nsome.h\nsome.o\n");
  CHECK(folder.run("cd outputs && " + kTilec + " -w copy.tile && touch -d '2 hours ago' copy.h && cp -p copy.h old.h && " + kTilec +
                   " -w copy.tile && [ ! copy.h -nt old.h ] && [ copy.o -nt copy.h ] && ls").out == "copy.h\ncopy.o\ncopy.tile\nold.h\nsome.h\nsome.o\n");
  CHECK(folder.run("cd outputs && " + kTilec + " -w copy.tile --prefix my_ && [ copy.h -nt old.h ] && cmp -s copy.o some.o").code == 1);
  std::filesystem::remove_all(folder.path / "outputs");
}

TEST_CASE("the same input and options give the same bytes anywhere, whatever the environment says") {
  Folder folder;
  for (const char* place : {"here", "there far"}) {
    std::filesystem::create_directory(folder.path / place);
    folder.write(std::string(place) + "/copy.tile", kUnused);
  }
  CHECK(folder.run("cd here && " + kTilec + " -w copy.tile --manifest copy.json").code == 0);
  CHECK(folder.run("cd 'there far' && LC_ALL=C TZ=UTC CFLAGS=-O0 SOURCE_DATE_EPOCH=1 " + kTilec + " -w copy.tile --manifest copy.json").code == 0);
  for (const char* file : {"copy.o", "copy.h", "copy.json"})
    CHECK_MESSAGE(folder.run("cmp here/" + std::string(file) + " 'there far/" + file + "'").code == 0, file);
  for (const char* place : {"here", "there far"}) std::filesystem::remove_all(folder.path / place);
}

TEST_CASE("warnings are what the options make of them") {
  Folder folder;
  folder.write("copy.tile", kUnused);
  auto gives = [&](const std::string& options, int code, const char* part, int times) {
    Ran ran = folder.tilec("check copy.tile " + options);
    CHECK_MESSAGE(ran.code == code, options << "\n" << ran.out);
    CHECK_MESSAGE(ran.times(part) == times, options << "\n" << ran.out);
  };
  gives("", 0, "warning: `unused` is never used [T0701, -Wunused-name]", 1);
  gives("-Werror", 1, "error: `unused` is never used [T0701", 1);
  gives("-Werror=unused-name", 1, "error: `unused` is never used [T0701", 1);
  gives("-Werror=unproved-race", 0, "warning: `unused`", 1);
  gives("-Wno-unused-name", 0, "unused", 0);
  gives("-Werror -Wno-unused-name", 0, "unused", 0);
  gives("-w", 0, "unused", 0);
  gives("-Werror=bogus", 2, "there is no warning or remark '-Werror=bogus'", 1);
  gives("-R bogus", 2, "there is no warning or remark 'bogus'", 1);
  gives("--color=always", 0, "\x1b[", folder.tilec("check copy.tile --color=always").times("\x1b["));
  CHECK(folder.tilec("check copy.tile --color=always").times("\x1b[") > 0);
  CHECK(folder.tilec("check copy.tile --color=never").times("\x1b[") == 0);
}

TEST_CASE("options and targets of other compilers, and slips, are answered with what is meant") {
  Folder folder;
  folder.write("copy.tile", "export kernel copy(A: f32[N], out B: f32[N]) { launch (i in N) { B[i] = A[i]; } }\n");
  constexpr std::pair<const char*, const char*> kOptions[] = {
      {"--targt x86-64", "there is no option '--targt'; did you mean '--target'?"}, {"-c", "an object is what tilec makes"},  {"-g", "no debug information"},
      {"-march=native", "machines are named by --target"}, {"-S", "--emit=asm"}, {"-DX=1", "no preprocessor"}, {"-lm", "linked by the compiler of C"}, {"--qqq", "there is no option '--qqq'\n"}};
  for (auto [option, part] : kOptions) {
    Ran ran = folder.tilec("copy.tile " + std::string(option));
    CHECK_MESSAGE((ran.code == 2 && ran.says(part)), option << "\n" << ran.out);
  }
  constexpr std::pair<const char*, const char*> kTargets[] = {
      {"native", "left out"}, {"avx2", "`x86-64-v3`"}, {"arm64", "`aarch64`"}, {"cuda", "`sm_90a`"}, {"h100", "`sm_90a`"}, {"sm_90b", "sm_90a"}};
  for (auto [target, part] : kTargets) {
    Ran ran = folder.tilec("copy.tile --target " + std::string(target));
    CHECK_MESSAGE((ran.code == 6 && ran.says(part)), target << "\n" << ran.out);
  }
  CHECK(folder.tilec("check copy.tile -Wall -Wextra").code == 0);
  Ran alone = folder.tilec("");
  CHECK_MESSAGE((alone.code == 2 && alone.says("no file is named") && alone.says("tilec check k.tile")), alone.out);
}

TEST_CASE("check refuses a shared tile that no machine has the room for") {
  Folder folder;
  auto kernel = [](const char* extents) {
    return "export kernel k(x: f32[N], out y: f32[N]) {\n    launch (i in ceildiv(N, 64)) {\n        var s: shared f32[" + std::string(extents) +
           "] = 0;\n        y.tile(i) = x.tile[64](i) + s[0, 0 +: 64];\n    }\n}\n";
  };
  folder.write("k.tile", kernel("4096, 512"));
  Ran large = folder.tilec("check k.tile");
  CHECK_MESSAGE((large.code == 1 && large.says("k.tile:3:") && large.says("T0500")), large.out);
  folder.write("k.tile", kernel("32, 512"));
  CHECK(folder.tilec("check k.tile").code == 0);
}

TEST_CASE("a file that is no text is told by its kind") {
  Folder folder;
  std::string text = "export kernel k() { launch (i in 1) { } }\n", wide;
  for (char c : text) wide += c, wide += '\0';
  folder.write("wide.tile", wide);
  folder.write("marked.tile", "\xff\xfe" + wide);
  folder.write("object.tile", std::string("\x7f" "ELF\2\1\1\0\0\0", 10));
  for (const char* name : {"wide.tile", "marked.tile"}) CHECK(folder.tilec("check " + std::string(name)).says("it is UTF-16: save it as UTF-8"));
  CHECK(folder.tilec("check object.tile").says("`tilec inspect`"));
}

TEST_CASE("no limit of errors shows all of them") {
  Folder folder;
  std::string text = "export kernel f(out B: f32[N]) {\n    launch (i in N) {\n";
  for (int i = 0; i < 60; ++i) text += "        B[i] = gone" + std::to_string(i) + ";\n";
  folder.write("bad.tile", text + "    }\n}\n");
  Ran all = folder.tilec("check --error-limit=0 bad.tile");
  CHECK(all.times("[T0100]") == 60);
  CHECK(all.says("60 errors"));
  CHECK(folder.tilec("check --error-limit=7 bad.tile").times("[T0100]") == 7);
}

TEST_CASE("fmt says no, formats, and agrees with itself") {
  Folder folder;
  folder.write("ugly.tile", kUgly);
  Ran no = folder.tilec("fmt --check ugly.tile");
  CHECK(no.code == 5);
  CHECK(no.out == "ugly.tile\n");
  CHECK(folder.read("ugly.tile") == kUgly);
  Ran shown = folder.tilec("fmt ugly.tile");
  CHECK(shown.code == 0);
  CHECK(folder.read("ugly.tile") == kUgly);
  CHECK(folder.tilec("fmt -i ugly.tile").code == 0);
  CHECK(folder.read("ugly.tile") == shown.out);
  CHECK(folder.tilec("fmt --check ugly.tile").code == 0);
  folder.write("bad.tile", "export kernel (");
  CHECK(folder.tilec("fmt -i bad.tile").code == 1);
  CHECK(folder.read("bad.tile") == "export kernel (");
}

TEST_CASE("run refuses tiles that no memory holds") {
  Folder folder;
  folder.write("a.tile", "export kernel k(x: f32[N], out y: f32[N]) { launch (i in ceildiv(N, 1000000000)) { y.tile(i) = x.tile[1000000000](i) + 1; } }\n");
  Ran ran = folder.tilec("run a.tile");
  CHECK_MESSAGE((ran.code == 2 && ran.says("too large to be interpreted")), ran.out);
}

TEST_CASE("fmt -i writes through links, and leaves who may read a file") {
  Folder folder;
  folder.write("a.tile", "export   kernel k(x: f32[N], out y: f32[N]) { launch (i in N) { y[i]=x[i]; } }\n");
  REQUIRE(folder.run("chmod 640 a.tile && ln -s a.tile link.tile && ln -s link.tile far.tile").code == 0);
  CHECK(folder.tilec("fmt -i far.tile").code == 0);
  CHECK(folder.tilec("fmt --check a.tile").code == 0);
  CHECK(folder.run("test -L link.tile && test -L far.tile && test $(stat -c %a a.tile) = 640").code == 0);
  // A link that leads nowhere yet leads to what is written.
  REQUIRE(folder.run("ln -s real.o out.o").code == 0);
  CHECK(folder.tilec("a.tile --target x86-64 -o out.o").code == 0);
  CHECK(folder.run("test -L out.o && test -f real.o").code == 0);
}

TEST_CASE("machines that are made up emit nothing, and verbs have their exit codes") {
  Folder folder;
  folder.write("copy.tile", kUnused);
  auto gives = [&](const std::string& words, int code, const char* part) {
    Ran ran = folder.tilec(words);
    CHECK_MESSAGE(ran.code == code, words << "\n" << ran.out);
    CHECK_MESSAGE(ran.says(part), words << "\n" << ran.out);
  };
  gives("copy.tile --target=model", 6, "the target `model` cannot emit `obj` [T0603]");
  gives("copy.tile --target=x86-64-v3,c", 6, "cannot go into one output");
  gives("copy.tile copy.tile", 2, "one source file makes one object");
  gives("explain T0404", 0, "PadInReduction");
  gives("explain PadInReduction", 0, "T0404");
  gives("explain unproved-race", 0, "T0700");
  gives("explain unproved-rage", 2, "did you mean unproved-race?");
  gives("copy.tile --target x86-64-v2", 6, "`x86-64`");
  gives("copy.tile --target sm90", 6, "`sm_90a`");
  folder.write("bad.tile", "kernel"), folder.write("loose.tile", "const  N = 3;\n");
  gives("fmt -i bad.tile gone.tile loose.tile", 1, "[T0600]");
  CHECK(folder.read("loose.tile") == "const N = 3;\n");
  gives("explain copy.tile --kernel gone", 2, "no export is named 'gone'");
  gives("run copy.tile --kernel gone", 2, "no export is named 'gone'");
  gives("inspect twice.o", 3, "[T0600]");
  CHECK(folder.tilec("-w copy.tile --target x86-64-v3,x86-64-v3 -o twice.o").code == 0);
  CHECK(folder.tilec("inspect twice.o").times("x86-64-v3") == 1);
  gives("doctor", 0, "target x86-64: x86-64 x86-64-v3 x86-64-v4; ");
  gives("run copy.tile --dim N=3", 0, "copy: done");
  gives("-w copy.tile -o .", 3, "[T0601]");
  CHECK(Json::parse(folder.tilec("--print-passes=json").out).has_value());
}

TEST_CASE("a library of one's own is read, and is a dependency with -MD but not with -MMD") {
  Folder folder;
  folder.write("copy.tile", "import std.math;\nexport kernel copy(A: f32[N], out B: f32[N]) {\n    launch (i in ceildiv(N, 64)) { B.tile(i) = math.relu(A.tile[64](i)); }\n}\n");
  REQUIRE(folder.run("rm -rf own && cp -r '" TILEC_TESTS "/../stdlib' own").code == 0);
  CHECK(folder.tilec("-w copy.tile -o k.o -MD --stdlib own").code == 0);
  CHECK_MESSAGE(folder.read("k.d").starts_with("k.o k.h: copy.tile own/core"), folder.read("k.d"));
  CHECK(folder.tilec("-w copy.tile -o k.o -MMD --stdlib own").code == 0);
  CHECK(folder.read("k.d") == "k.o k.h: copy.tile\n");
  std::filesystem::remove_all(folder.path / "own");
}

TEST_CASE("the manual and the completions have every option that --help has") {
  Folder folder;
  std::string manual = folder.tilec("--print-manual").out, completions = folder.tilec("--print-completions").out;
  for (const char* verb : {"compile", "check", "run", "explain", "fmt", "inspect", "doctor"}) {
    size_t in_manual = manual.find(".SH TILEC " + std::string(verb) + "\n"), in_completions = completions.find("    " + std::string(verb) + ") ");
    REQUIRE(in_manual != std::string::npos);
    REQUIRE(in_completions != std::string::npos);
    std::string part = manual.substr(in_manual, manual.find(".SH ", in_manual + 4) - in_manual);
    std::string line = completions.substr(in_completions, completions.find('\n', in_completions) - in_completions);
    int count = 0;
    for (const std::string& shown : split(folder.tilec(std::string(verb) + " --help").out, '\n')) {
      std::string_view text = trim(shown);
      if (!text.starts_with("-")) continue;
      std::string name(text.substr(0, text.find_first_of(", ")));
      if (name.starts_with("--M")) name = name.substr(1);
      std::string escaped;
      for (char c : name) escaped += c == '-' ? "\\-" : std::string(1, c);
      CHECK_MESSAGE(part.find(escaped) != std::string::npos, verb << " " << name);
      CHECK_MESSAGE(line.find(name) != std::string::npos, verb << " " << name);
      ++count;
    }
    CHECK(count >= 1);
  }
  folder.write("complete", completions);
  CHECK(folder.run("bash -c 'source complete; COMP_WORDS=(tilec ch); COMP_CWORD=1; _tilec; echo ${COMPREPLY[0]}'").out == "check\n");
  CHECK(folder.run("bash -c 'source complete; COMP_WORDS=(tilec run --num); COMP_CWORD=2; _tilec; echo ${COMPREPLY[0]}'").out == "--numeric\n");
}
