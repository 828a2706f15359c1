// Names that C and C++ have already: every one of them may name what stands inside a kernel, its arguments are spelled beside them,
// and a function that cannot be called so is refused where it is exported.
#include "target/abi/c_names.h"

#include <sstream>

#include "command.h"

using namespace tilec;
using tilec::command::Folder;
using tilec::command::Ran;

namespace {

// Words of C and C++, macros of their headers and of others, functions, and what the generated text calls its own.
const char* const kNames =
    "alignas alignof and and_eq auto bitand bitor case catch char char8_t char16_t class co_await compl concept const_cast "
    "constexpr consteval decltype default delete do double dynamic_cast explicit extern float friend goto inline integer long "
    "mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast "
    "requires restrict short signed sizeof static static_cast struct switch template this thread_local throw try typedef typeid "
    "typename typeof typeof_unqual union unsigned using virtual void volatile wchar_t xor xor_eq noreturn complex imaginary "
    "I NULL EOF stdin stdout stderr errno assert INFINITY NAN HUGE_VAL M_PI M_PIl INT_MAX INT64_C SIZE_MAX UINT8_MAX CHAR_BIT DBL_MAX "
    "FLT_EPSILON FE_INEXACT FP_NAN PRId64 SCNu8 BUFSIZ RAND_MAX EXIT_SUCCESS SEEK_SET LC_ALL SIGINT SIG_DFL EINTR ENOMEM E2BIG TMP_MAX "
    "CLOCKS_PER_SEC WEOF WCHAR_MAX TIME_UTC ATOMIC_FLAG_INIT math_errhandling st_mtime sa_handler unix linux i386 MB_CUR_MAX "
    "near far huge small interface min max IN OUT OPTIONAL TRUE FALSE ERROR CONST DELETE CALLBACK cdecl pascal "
    "memcpy memset malloc free printf exp log pow sin fma abs div index gamma time read write exit main pthread_create va_start "
    "size_t int64_t uint8_t ptrdiff_t FILE time_t div_t std offsetof isnan setjmp "
    "slots plan scratch fault begin end block block0 lane l v0 v1 tile_slots tile1_threads tile_status tile_call TILE_OK tile_of_k_plan "
    "args stream workspace workspace_bytes struct_size bytes shape data strides __x _Bool _Complex_I k k_args k_plan k_kernel k_0_launch0 "
    "threads target fast type shape parallel pipelined range unroll shared local fragment where layout stage rest role warps";

std::vector<std::string> names() {
  std::istringstream words(kNames);
  std::vector<std::string> all;
  for (std::string word; words >> word;)
    if (std::ranges::find(all, word) == all.end()) all.push_back(word);
  return all;
}

// Two names are tensors, two are dims, the others what stands within.
std::string kernel_of(const std::vector<std::string>& n, const std::string& name) {
  std::string text = "export kernel " + name + "(A: f32[D, E], out B: f32[D, E], S: f32) {\n    var W: workspace f32[D, E];\n"
                     "    launch (X in D, Y in E) { let T = A[X, Y] * S; var U: f32 = T; U += T; W[X, Y] = U; }\n"
                     "    launch (X in D, Y in E) { B[X, Y] = W[X, Y]; }\n}\n";
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    bool stands_alone = !std::isalnum(uint8_t(text[i + 1])) && (i == 0 || !std::isalnum(uint8_t(text[i - 1])));
    size_t which = std::string("ABDESTUWXY").find(text[i]);
    if (stands_alone && which != std::string::npos) out += n[which];
    else out += text[i];
  }
  return out;
}

// Each name comes by twice: as an argument and within.
std::string kernels() {
  constexpr size_t kPlaces = 10, kArguments = 5;
  std::vector<std::string> all = names();
  std::string text;
  for (size_t i = 0; i < all.size(); i += kArguments) {
    std::vector<std::string> chosen;
    for (size_t place = 0; place < kPlaces; ++place) chosen.push_back(all[(i + place) % all.size()]);
    text += kernel_of(chosen, "kernel" + std::to_string(i));
  }
  return text;
}

const char* const kHeaders[] = {"assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "iso646", "limits", "locale", "math", "setjmp",
                                "signal", "stdarg", "stdbool", "stddef", "stdint", "stdio", "stdlib", "string", "time", "wchar", "wctype", "unistd",
                                "fcntl", "pthread", "sys/stat"};

std::string user(bool is_cpp, const std::string& macros) {
  std::string text;
  for (std::string header : kHeaders)
    if (!is_cpp || header != "iso646") text += "#include <" + header + ".h>\n";
  return text + macros + "#include \"names.h\"\nint main(void) { return (int)sizeof(kernel0_args) == 0; }\n";
}

}  // namespace

TEST_SUITE("names in C") {
  TEST_CASE("a name of C inside of a kernel breaks neither header nor C text") {
    Folder folder;
    folder.write("names.tile", kernels());
    Ran made = folder.tilec("names.tile --target c -o names.c --header names.h -w");
    REQUIRE_MESSAGE(made.code == 0, made.out);
    folder.write("use.c", user(false, ""));
    folder.write("use.cpp", user(true, ""));
    std::string macros;
    for (const char* word : {"near", "far", "small char", "interface struct", "huge 1", "IN", "OUT", "TRUE 1", "min(a, b) ((a) < (b) ? (a) : (b))",
                             "max(a, b) ((a) < (b) ? (b) : (a))"})
      macros += std::string("#define ") + word + "\n";
    folder.write("windows.c", user(false, macros));
    folder.write("windows.cpp", user(true, "#undef min\n#undef max\n" + macros));
    folder.write("objects.c", user(false, "#define min 1\n#define max 2\n#define near 3\n#define interface 4\n"));
    const std::string strict = " -pedantic -Wall -Wextra -Werror -fsyntax-only ";
    for (std::string c : {"gcc -std=c11 -D_GNU_SOURCE", "gcc -std=gnu17", "clang-19 -std=c11"})
      for (std::string file : {"use.c", "windows.c", "objects.c", "names.c"}) {
        Ran ran = folder.run(c + strict + file);
        CHECK_MESSAGE(ran.code == 0, c << " " << file << ": " << ran.out.substr(0, 2000));
      }
    for (std::string c : {"g++ -std=c++17", "clang++-19 -std=c++17"})
      for (std::string file : {"use.cpp", "windows.cpp"}) {
        Ran ran = folder.run(c + strict + file);
        CHECK_MESSAGE((ran.code == 0 || ran.code == 127), c << " " << file << ": " << ran.out.substr(0, 2000));
      }
  }

  TEST_CASE("a function that C has is refused where it is exported, all others compile") {
    Folder folder;
    const std::string body = "(x: f32[N], out y: f32[N]) { launch (i in N) { y[i] = x[i]; } }\n";
    std::string text, use;
    std::vector<std::string> free;
    for (const std::string& name : names()) {
      Ran ran = folder.tilec("check " + folder.write("one.tile", "kernel one" + body + "export one as " + name + ";\n"));
      bool is_ours = !target::is_word_of_c(name) && !target::is_declared_by_c(name);
      CHECK_MESSAGE((ran.code == 0) == is_ours, name << ": " << ran.out);
      if (!is_ours) CHECK_MESSAGE((ran.says("one.tile:2:8: error: `" + name + "` is not allowed as the name of an export") && ran.times("error:") == 1), name << ": " << ran.out);
      if (is_ours && name != "k_args" && name != "k_0_launch0") free.push_back(name);
    }
    for (const std::string& name : free) text += "export kernel " + name + body;
    folder.write("names.tile", text);
    Ran made = folder.tilec("names.tile --target c -o names.c --header names.h -w");
    REQUIRE_MESSAGE(made.code == 0, made.out.substr(0, 2000));
    folder.write("use.c", user(false, "#define kernel0_args " + free[0] + "_args\n"));
    folder.write("use.cpp", user(true, "#define kernel0_args " + free[0] + "_args\n"));
    for (std::string command : {"gcc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only use.c names.c", "g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only use.cpp",
                                "clang-19 -std=c11 -Wall -Wextra -Werror -fsyntax-only use.c names.c"}) {
      Ran ran = folder.run(command);
      CHECK_MESSAGE(ran.code == 0, command << ": " << ran.out.substr(0, 2000));
    }
  }

  TEST_CASE("an argument that must be called otherwise takes the name of no other") {
    CHECK(target::argument_names({"I", "I_", "x"}) == std::vector<std::string>{"I__", "I_", "x"});
    CHECK(target::argument_names({"tile_status", "arg_tile_status"}) == std::vector<std::string>{"arg_tile_status_", "arg_tile_status"});
    CHECK(target::argument_names({"INT_MAX", "PRId64", "SIGINT"}) == std::vector<std::string>{"arg_INT_MAX", "arg_PRId64", "arg_SIGINT"});
    CHECK(target::argument_names({"slots", "K", "M", "N", "E", "index"}) == std::vector<std::string>{"slots", "K", "M", "N", "E", "index"});
  }

  TEST_CASE("header, manifest and C text spell an argument the same way") {
    Folder folder;
    folder.write("k.tile", "export kernel k(double: f32[I], out restrict: f32[I]) { launch (i in ceildiv(I, 16)) { restrict.tile(i) = double.tile[16](i) + 1; } }\n");
    REQUIRE(folder.tilec("k.tile --target c -o k.c --header k.h --manifest k.json").code == 0);
    for (const char* file : {"k.c", "k.h", "k.json"})
      for (const char* name : {"double_", "restrict_", "I_"}) CHECK_MESSAGE(folder.read(file).find(name) != std::string::npos, file << " " << name);
  }

  TEST_CASE("a type names nothing else, and one mistake is one error") {
    Folder folder;
    const std::string x = "export kernel k(x: f32[N], out y: f32[N]) { ";
    const std::string files[] = {"export kernel f32(x: f32[N], out y: f32[N]) { launch (i in N) { y[i] = x[i]; } }\n",
                                 "export kernel k(f32: f32[N], out y: f32[N]) { launch (i in N) { y[i] = f32[i]; } }\n",
                                 "export kernel k(x: i32[f32], out y: i32[f32]) { launch (i in f32) { y[i] = x[i]; } }\n",
                                 x + "var f32: workspace f32[N]; launch (i in N) { f32[i] = x[i]; } launch (i in N) { y[i] = f32[i]; } }\n",
                                 x + "launch (f32 in N) { y[f32] = x[f32]; } }\n", x + "launch (i in N) { let f32 = x[i]; y[i] = f32 + 1; } }\n",
                                 x + "launch (i in N) { for f32 in 0..1 { y[i + f32] = x[i]; } } }\n",
                                 "fn f32(x: i32) -> i32 = x;\n" + x + "launch (i in N) { y[i] = x[i]; } }\n",
                                 "const f32 = 3;\n" + x + "launch (i in N) { y[i] = x[i] * f32; } }\n",
                                 "enum f32 { a, b }\n" + x + "launch (i in N) { y[i] = x[i]; } }\n",
                                 "import std.math as f32;\n" + x + "launch (i in N) { y[i] = f32.square(x[i]); } }\n"};
    for (const std::string& file : files) {
      Ran ran = folder.tilec("check " + folder.write("k.tile", file));
      CHECK_MESSAGE((ran.code == 1 && ran.says("`f32` is not allowed as a name, because it is a type") && ran.times("error:") == 1), file << ran.out);
    }
  }

  TEST_CASE("a dim may be called as a function of the library is") {
    Folder folder;
    folder.write("k.tile", "export kernel k(x: f32[sum, max], out y: f32[sum, max]) { launch (i in sum, j in max) { y[i, j] = x[i, j]; } }\n");
    Ran ran = folder.tilec("check k.tile");
    CHECK_MESSAGE(ran.code == 0, ran.out);
  }
}
