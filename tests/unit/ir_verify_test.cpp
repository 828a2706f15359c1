#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "ir/builder.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"

using namespace tilec;
using namespace tilec::ir;

namespace {

// A mistake: its code and the text that makes it, put into the frame of its form.
enum class Where { Host, Block, Placed, Staged, Role, Thread, Simt, Whole };

struct Mistake {
  std::string_view code;
  Where where;
  std::string_view text;
};

constexpr std::string_view kAcc = "tile<16x8 f32 @ reg(c0 r3) lane(c1 c2 r0 r1 r2)>";

std::string framed(Where where, std::string_view text) {
  std::string body(text), form = "typed", values = R"(
    %zero = constant 0 : int
    %one = constant 1 : int
    %yes = constant 1 : bool
    %real = constant 1.5 : f32
)";
  switch (where) {
    case Where::Whole: return body;
    case Where::Host: break;
    case Where::Placed:
      form = "placed";
      body = "launch [%one] { (%b: int) " + body + " yield }";
      break;
    case Where::Staged:
      form = "staged";
      body = "launch [%one] { (%b: int) " + body + " yield }";
      break;
    case Where::Role:
      form = "staged";
      body =
          "launch [%one] { (%b: int) %ring = ring_alloc : ring<2> roles names=[\"p\", \"c\"], warps=[1, 1] { for "
          "%zero, %n, "
          "%one { (%i: int) acquire %ring, %i commit %ring, %i yield } yield } { for %zero, %n, %one { (%j: int) " +
          body + " yield } yield } yield }";
      break;
    case Where::Thread:
      form = "thread";
      body = "launch [%one] { (%b: int) %lane = lane_index : varying int " + body + " yield }";
      break;
    case Where::Simt: body = "launch [%one] { (%b: int) simt { (%t: int) " + body + " yield } yield }"; break;
    case Where::Block:
      body =
          "launch [%one] { (%b: int) %sh = alloc : buffer<shared 16x8 f32> %t = splat %real : tile<16x8 f32> %v = "
          "splat %real : "
          "tile<8 f32> " +
          body + " yield }";
      break;
  }
  return "kernel \"k\", form=" + form +
         " dim \"n\", %n param \"x\", %x, extents=[%n] { (%n: int, %x: buffer<global ? f32>)" + values + body +
         "\nyield\n}";
}

constexpr Mistake kMistakes[] = {
    {"V002", Where::Host, "%a = binary.add %n, %c : int %c = constant 1 : int"},
    {"V002", Where::Host, "if %yes { %a = binary.add %n, %n : int yield } %c = binary.add %a, %n : int"},
    {"V002", Where::Host, "%a = binary.add %a, %n : int"},
    {"V006", Where::Host, "if %yes { }"},
    {"V006", Where::Host, "yield"},
    {"V006", Where::Host, "for %zero, %n, %one { (%i: int) %a = binary.add %i, %i : int }"},
    {"V007", Where::Host, "for %zero, %n, %one { (%i: int) yield [%i] }"},
    {"V007", Where::Host, "%r = if %yes : int { yield [%n] } else_body { yield [%yes] }"},
    {"V007", Where::Host, "%r = while [%n] : int { (%a: int) yield [%yes, %yes] } body { (%c: int) yield [%c] }"},
    {"V008", Where::Host, "for %zero, %n, %one { yield }"},
    {"V008", Where::Host, "%r = for %zero, %n, %one, [%n] : int { (%i: int, %a: bool) yield [%a] }"},
    {"V008", Where::Host, "launch [%n, %n] { (%i: int) yield }"},
    {"V009", Where::Host, "binary.add %n, %n"},
    {"V009", Where::Host, "for %zero, %n, %one, [%n] { (%i: int, %a: int) yield [%a] }"},
    {"V009", Where::Host, "%r = for %zero, %n, %one, [%n] : bool { (%i: int, %a: int) yield [%a] }"},
    {"V010", Where::Block, "%c = convert_layout %t : tile<16x8 f32>"},
    {"V010", Where::Block, "barrier"},
    {"V010", Where::Thread, "%t = splat %real : f32"},
    {"V011", Where::Host, "%t = splat %real : tile<8 f32>"},
    {"V011", Where::Host, "if %yes { launch [%one] { (%i: int) yield } yield }"},
    {"V011", Where::Block, "%i = thread_index : int"},
    {"V011", Where::Block,
     "%m = map shape=[8] : tile<8 f32> { (%i: int) %p = alloc : buffer<private 8 f32> yield [%real] }"},
    {"V012", Where::Placed, "%t = splat %real : tile<16x8 f32>"},
    {"V012", Where::Placed, "%s = alloc : buffer<shared 16x8 f32>"},
    {"V014", Where::Host, "%a = constant 1 : varying int"},
    {"V014", Where::Thread, "%a = alloc : varying buffer<shared 8 f32>"},
    {"V014", Where::Block, "%e = splat %real : tile<0 f32>"},
    {"V014", Where::Block, "%e = alloc [%n] : buffer<shared ? f32>"},
    {"V014", Where::Block, "%e = splat %real : vector<4 f32>"},
    {"V015", Where::Whole, "kernel \"k\" dim \"n\", %n { (%n: f32) yield }"},
    {"V015", Where::Whole, "kernel \"k\" param \"x\", %x { (%x: buffer<global 4 f32>) yield }"},
    {"V015", Where::Whole, "kernel \"k\" requires %n, \"n\" { (%n: int) yield }"},
    {"V016", Where::Host, "for %zero, %real, %one { (%i: int) yield }"},
    {"V016", Where::Host, "for %zero, %n, %zero { (%i: int) yield }"},
    {"V016", Where::Host, "if %n { yield }"},
    {"V016", Where::Host, "%r = while [%n], step=%zero : int { (%a: int) yield [%yes, %a] } body { (%c: int) yield [%c] }"},
    {"V016", Where::Host, "%r = while [%yes], step=%one : bool { (%a: bool) yield [%a, %a] } body { (%c: bool) yield [%c] }"},
    {"V016", Where::Host,
     "%r = while [%n], step=%one : int { (%a: int) %b = binary.add %a, %a : int yield [%yes, %b] } body { (%c: int) yield [%c] }"},
    {"V017", Where::Host, "launch [%n], threads=-1 { (%i: int) yield }"},
    {"V017", Where::Host, "launch [%real] { (%i: int) yield }"},
    {"V017", Where::Host, "launch [%n], cluster=[1, 2] { (%i: int) yield }"},
    {"V017", Where::Host, "launch [%n], cluster=[0] { (%i: int) yield }"},
    {"V018", Where::Block, "%a = binary.add %t, %t : tile<16x8 f32>"},
    {"V018", Where::Block, "%a = load %t, [%zero, %zero], axes=[0, 1] : tile<16x8 f32>"},
    {"V018", Where::Role, "wait %n, %j release %ring, %j"},
    {"V020", Where::Host, "%a = constant 1.5 : int"},
    {"V020", Where::Host, "%a = constant 300 : u8"},
    {"V021", Where::Host, "%a = binary.add %n, %real : int"},
    {"V021", Where::Host, "%a = select %n, %n, %n : int"},
    {"V022", Where::Host, "%a = binary.add %n, %n : i32"},
    {"V022", Where::Host, "%a = compare.lt %n, %n : int"},
    {"V022", Where::Host, "%a = unary.is_nan %real : f32"},
    {"V023", Where::Host, "%a = unary.sqrt %n : int"},
    {"V023", Where::Host, "%a = binary.and %real, %real : f32"},
    {"V023", Where::Host, "%a = convert %real, mode=bits : i16"},
    {"V024", Where::Block, "%a = element_load %x, [%zero, %zero] : f32"},
    {"V024", Where::Block, "%a = element_load %x, [%zero] : f16"},
    {"V024", Where::Block, "element_store %x, [%real], %real"},
    {"V025", Where::Block, "%a = atomic.compare_exchange %x, [%zero], [%real] : f32"},
    {"V025", Where::Block, "%a = atomic.add %x, [%zero], [%one] : f32"},
    {"V026", Where::Block, "%a = extent %sh : int"},
    {"V026", Where::Host, "%a = stride %x, axis=1 : int"},
    {"V030", Where::Block, "%a = load %x, [%zero, %zero], axes=[0] : tile<8 f32>"},
    {"V030", Where::Block, "store %v, %x, [%real], axes=[0]"},
    {"V031", Where::Block, "%a = load %x, [%zero] : tile<8 f32>"},
    {"V031", Where::Block, "%a = load %sh, [%zero, %zero], axes=[1, 1] : tile<8x8 f32>"},
    {"V031", Where::Block, "%a = load %x, [%zero], axes=[1] : tile<8 f32>"},
    {"V032", Where::Block, "%a = load %x, [%zero], axes=[0], bounds=[inside, inside] : tile<8 f32>"},
    {"V033", Where::Block, "%a = load %x, [%zero], axes=[0] : tile<8 f16>"},
    {"V033", Where::Thread, "%a = mem_load %x, %zero, peer=%one : f32"},
    {"V034", Where::Block, "%a = load %sh, [%zero, %zero], axes=[0, 1] : tile<32x8 f32>"},
    {"V034", Where::Block, "%a = extract %v, [%zero], axes=[0] : tile<16 f32>"},
    {"V034", Where::Block, "%a = cluster_sum %v, %zero : tile<3 f32>"},
    {"V034", Where::Block, "%a = cluster_sum %v, %zero : tile<4 i32>"},
    {"V034", Where::Block, "copy %x, [%zero], %sh, [%zero, %zero], src_axes=[0], dst_axes=[1], shape=[16]"},
    {"V034", Where::Block, "%a = insert %t, %v, [%zero, %zero], axes=[1] : tile<8 f32>"},
    {"V035", Where::Block, "%a = gemm %t, %sh, %t : tile<16x8 f32>"},
    {"V035", Where::Block, "%a = gemm %t, %t, %t, transpose_b=true : tile<16x8 f32>"},
    {"V036", Where::Block, "%i = splat %one : tile<16x16 int> %a = gemm %i, %t, %t : tile<16x8 f32>"},
    {"V037", Where::Block, "%a = reduce.max %t, axis=2 : tile<16 f32>"},
    {"V037", Where::Block, "%a = reduce.sum %t, axis=1 : tile<8 f32>"},
    {"V037", Where::Block, "%a = reduce.argmax %v : f32"},
    {"V037", Where::Block, "%a = scan.sum %t, axis=1 : tile<16x8 f16>"},
    {"V038", Where::Block, "%a = permute %t, axes=[1, 0] : tile<16x8 f32>"},
    {"V038", Where::Block, "%a = reshape %t : tile<64 f32>"},
    {"V039", Where::Block, "%a = splat %real : tile<8 f16>"},
    {"V040", Where::Block,
     "%a = map [%v], input_axes=[[0]], shape=[16] : tile<16 f32> { (%i: int, %e: f32) yield [%e] }"},
    {"V040", Where::Block, "%a = map [%v], shape=[8] : tile<8 f32> { (%i: int, %e: f32) yield [%e] }"},
    {"V041", Where::Block,
     "%a = map [%v], input_axes=[[0]], shape=[8] : tile<16 f32> { (%i: int, %e: f32) yield [%e] }"},
    {"V042", Where::Block, "%a = alloc : buffer<workspace 8 f32>"},
    {"V042", Where::Host, "%a = alloc : buffer<workspace ? f32>"},
    {"V043", Where::Placed,
     "%a = splat %real : tile<8 f32 @ reg(c0 c1 c2) lane(_)> %c = convert_layout %a : tile<8 f16 @ reg(c0) lane(c1 "
     "c2)>"},
    {"V050", Where::Staged,
     "%t = splat %real : ACC %p = splat %real : ACC %q = splat %real : ACC8 %f = gemm_async %p, %q, %t : FLIGHT"},
    {"V050", Where::Staged,
     "%t = splat %real : ACC %p = splat %real : ACC %q = splat %real : ACC8 %f = gemm_async %p, %q, %t : FLIGHT "
     "%g = await_gemm %f : ACC %h = await_gemm %f : ACC"},
    {"V050", Where::Staged,
     "%t = splat %real : ACC %p = splat %real : ACC %q = splat %real : ACC8 %f = gemm_async %p, %q, %t : FLIGHT "
     "if %yes { %g = await_gemm %f : ACC yield }"},
    {"V051", Where::Staged,
     "%s = alloc : buffer<shared 8 f32 @ addr(c0 c1 c2)> %c = copy_async %x, [%zero], %s, [%zero], src_axes=[0], "
     "dst_axes=[0], shape=[8] : token for %zero, %n, %one { (%i: int) await_copy [%c] yield }"},
    {"V052", Where::Staged, "%r = ring_alloc : ring<2> acquire %r, %one wait %r, %one release %r, %one"},
    {"V052", Where::Staged,
     "%r = ring_alloc : ring<2> commit %r, %one acquire %r, %one wait %r, %one release %r, %one"},
    {"V052", Where::Staged,
     "%r = ring_alloc : ring<2> for %zero, %n, %one { (%i: int) acquire %r, %one commit %r, %one wait %r, %i release "
     "%r, %i yield }"},
    {"V053", Where::Role, "wait %ring, %j wait %ring, %j release %ring, %j"},
    {"V053", Where::Role, "release %ring, %j wait %ring, %j"},
    {"V054", Where::Role, ""},
    {"V054", Where::Role, "acquire %ring, %j commit %ring, %j wait %ring, %j release %ring, %j"},
    {"V054", Where::Staged, "%r = ring_alloc consumers=0 : ring<2>"},
    {"V055", Where::Staged, "roles names=[\"a\", \"a\"], warps=[1, 1] { yield } { yield }"},
    {"V055", Where::Staged, "roles names=[\"a\"], warps=[1, 1] { yield }"},
    {"V055", Where::Staged, "roles names=[\"a\"], warps=[1] { roles names=[\"c\"], warps=[1] { yield } yield }"},
    {"V060", Where::Thread, "%a = binary.add %lane, %n : int"},
    {"V060", Where::Thread, "%a = thread_index : int"},
    {"V060", Where::Thread, "%a = mem_load %x, %lane : f32"},
    {"V060", Where::Thread, "%p = alloc : varying buffer<private 8 f32> %a = mem_load %p, %zero : f32"},
    {"V060", Where::Thread,
     "%c = compare.lt %lane, %n : varying bool %a = if %c : int { yield [%n] } else_body { yield [%one] }"},
    {"V060", Where::Thread, "%a = for %zero, %n, %one, [%zero] : int { (%i: int, %k: int) yield [%lane] }"},
    {"V061", Where::Thread, "for %zero, %lane, %one { (%i: int) yield }"},
    {"V061", Where::Thread,
     "%r = while [%lane] : varying int { (%a: varying int) %c = compare.lt %a, %n : varying bool yield [%c, %a] } "
     "body { (%d: varying int) yield [%d] }"},
    {"V062", Where::Thread, "%c = compare.lt %lane, %n : varying bool if %c { block_barrier yield }"},
    {"V062", Where::Thread, "%w = warp_index : int for %zero, %w, %one { (%i: int) block_barrier yield }"},
    {"V062", Where::Simt, "%c = compare.lt %t, %n : bool if %c { block_barrier yield }"},
    {"V062", Where::Simt,
     "%e = element_load %x, [%zero] : f32 %i = convert %e : int %l = for %zero, %n, %one, [%zero] : int { (%j: int, "
     "%k: int) "
     "yield [%i] } for %zero, %l, %one { (%m: int) block_barrier yield }"},
    {"V063", Where::Thread, "%a = mem_load %x, %zero : f16"},
    {"V063", Where::Thread, "mem_store %x, %lane, %real, mask=%n"},
    {"V063", Where::Thread, "mem_store %x, %real, %real"},
    {"V064", Where::Thread, "mem_store %x, %zero, %real, lane_stride=1"},
    {"V064", Where::Thread, "mem_store %x, %lane, %real, lane_stride=-2"},
    {"V065", Where::Thread, "%a = vector_make [%real, %real] : vector<4 f32>"},
    {"V065", Where::Thread, "%a = vector_make [%real, %real] : vector<2 f32> %c = vector_element %a, index=2 : f32"},
    {"V066", Where::Thread, "phase_wait %x, %zero, %zero"},
    {"V066", Where::Thread, "named_barrier id=1"},
    {"V022", Where::Thread, "%c = cluster_blocks : i32"},
    {"V066", Where::Thread, "%s = alloc : buffer<shared 2 u64> phase_arrive %s, %zero, block=%real"},
    {"V066", Where::Thread, "%s = alloc : buffer<shared 2 f32> %a = mem_load %s, %zero, peer=%lane : varying f32"},
    {"V066", Where::Thread,
     "%s = alloc : buffer<shared 8 f32> %m = alloc : buffer<shared 1 u64> copy_box %x, [%zero], %s, [%zero], %m, %zero, src_axes=[0], dst_axes=[0], "
     "dst_shape=[8], layout=\"addr(c0 c1 c2)\", shape=[8], peers=%yes"},
    {"V067", Where::Thread, "fault %n, %n"},
    {"V067", Where::Thread, "%a = vote.any %lane : bool"},
    {"V068", Where::Thread, "atom"},
    {"V050", Where::Staged, "%t = splat %real : ACC %f = begin_flight %t : FLIGHT"},
    {"V050", Where::Thread, "VECTOR %f = group_fence [%v] : varying flight<2 f32>"},
    {"V050", Where::Thread,
     "VECTOR %f = group_fence [%v] : varying flight<2 f32> %a, %c = group_wait [%f, %f] : varying vector<2 f32>, varying vector<2 f32>"},
    {"V069", Where::Thread, "VECTOR %f = group_wait [%v] : varying vector<2 f32>"},
    {"V069", Where::Thread,
     "VECTOR %f = group_fence [%v] : varying flight<2 f32> %a = group_wait [%f], in_flight=-1 : varying vector<2 f32>"},
    {"V069", Where::Thread,
     "VECTOR %f = group_fence [%v] : varying flight<2 f32> %a = group_wait [%f] : varying vector<1 f32>"},
    {"V071", Where::Thread, "%a = alloc offset=2 : buffer<shared 64 f32>"},
    {"V071", Where::Thread, "%a = alloc offset=64 : buffer<private 64 f32>"},
    {"V070", Where::Thread, "OPERANDS PRODUCT %v, %s, %s, %zero, ARRAYS : varying vector<2 f32>"},
    {"V070", Where::Thread, "OPERANDS FENCE PRODUCT %f, %x, %s, %zero, ARRAYS : varying flight<2 f32> WAIT"},
    {"V070", Where::Thread, "OPERANDS FENCE PRODUCT %f, %s, %s, %lane, ARRAYS : varying flight<2 f32> WAIT"},
    {"V070", Where::Thread,
     "OPERANDS FENCE PRODUCT %f, %s, %s, %zero, a_place=%zero, b_shape=[8], b_layout=\"addr(c0 c1 c2)\", a_shape=[2, 4], "
     "a_layout=\"addr(c0 c1 r0)\", atom=\"x\" : varying flight<2 f32> WAIT"},
    {"V068", Where::Thread,
     "OPERANDS FENCE PRODUCT %f, %s, %s, %zero, a_place=%zero, b_shape=[2, 4], b_layout=\"addr(c0 c1 r0)\", a_shape=[2, 4], "
     "a_layout=\"addr(c0 c1 r0)\" : varying flight<2 f32> WAIT"},
};

std::string with_words(std::string text) {
  std::string flight(kAcc);
  flight.replace(0, 4, "flight");
  const std::pair<std::string_view, std::string> words[] = {
      {"OPERANDS", "%s = alloc : buffer<shared 8 f32> VECTOR"},
      {"VECTOR", "%l = convert %lane : varying f32 %v = vector_make [%l, %l] : varying vector<2 f32>"},
      {"FENCE", "%f = group_fence [%v] : varying flight<2 f32>"},
      {"PRODUCT", "%p = group_product"},
      {"ARRAYS", "a_place=%zero, b_shape=[2, 4], b_layout=\"addr(c0 c1 r0)\", a_shape=[2, 4], a_layout=\"addr(c0 c1 r0)\", atom=\"x\""},
      {"WAIT", "%w = group_wait [%p] : varying vector<2 f32>"},
      {"ACC8", "tile<8x8 f32 @ reg(c0) lane(c1 c2 r0 r1 r2)>"}, {"FLIGHT", flight}, {"ACC", std::string(kAcc)}};
  for (const auto& [word, meaning] : words)
    for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + meaning.size()))
      text.replace(at, word.size(), meaning);
  return text;
}

Kernel parsed(const std::string& text) {
  std::string error;
  auto kernel = parse(text, &error);
  REQUIRE_MESSAGE(kernel, error << "\n" << text);
  return *kernel;
}

std::set<std::string_view> codes(const Kernel& kernel) {
  std::set<std::string_view> found;
  for (const Violation& v : verify(kernel, kernel.form)) found.insert(v.code);
  return found;
}

// What no text can say: kernels that are broken by hand.
struct Breakage {
  std::string_view code;
  void (*make)(Kernel&);
};

constexpr Breakage kBreakages[] = {
    {"V001", [](Kernel& k) { k.ops[0].results[0] = {7777}; }},
    {"V001", [](Kernel& k) { k.region(k.body).ops[1] = {7777}; }},
    {"V001", [](Kernel& k) { k.ops.back().as<op::Yield>().values.push_back({}); }},
    {"V001", [](Kernel& k) { k.ops[1].data = OpData{}; }},
    {"V001", [](Kernel& k) { k.body = {}; }},
    {"V001", [](Kernel& k) { k.dims[0].value = {}; }},
    {"V001", [](Kernel& k) { k.values[k.ops[0].results[0].index].type = {7777}; }},
    {"V003", [](Kernel& k) { k.ops[1].results[0] = k.ops[0].results[0]; }},
    {"V003", [](Kernel& k) { k.values[k.ops[0].results[0].index].op = {1}; }},
    {"V004", [](Kernel& k) { k.region(k.body).ops.insert(k.region(k.body).ops.begin(), k.region(k.body).ops[0]); }},
    {"V005",
     [](Kernel& k) {
       for (Op& op : k.ops)
         if (auto* branch = op.get<op::If>()) branch->else_body = branch->then_body;
     }},
    {"V010", [](Kernel& k) { k.form = Form::Placed; }},
};

}  // namespace

TEST_CASE("every mistake is named by its code and by no other") {
  for (const Mistake& mistake : kMistakes) {
    std::string text = with_words(framed(mistake.where, mistake.text));
    CAPTURE(text);
    Kernel kernel = parsed(text);
    auto violations = verify(kernel, kernel.form);
    for (const Violation& v : violations) INFO(v.code << " " << v.text);
    std::string all;
    for (const Violation& v : violations) all += std::string(v.code) + " " + v.text + "\n";
    CAPTURE(all);
    CHECK(codes(kernel) == std::set<std::string_view>{mistake.code});
  }
}

TEST_CASE("the frames of the mistakes hold without them") {
  for (Where where : {Where::Host, Where::Block, Where::Placed, Where::Staged, Where::Thread, Where::Simt})
    CHECK(codes(parsed(framed(where, ""))).empty());
  CHECK(codes(parsed(framed(Where::Role, "wait %ring, %j release %ring, %j"))).empty());
}

TEST_CASE("a kernel that is broken by hand is named by its code, and prints") {
  for (const Breakage& breakage : kBreakages) {
    CAPTURE(breakage.code);
    Kernel kernel = parsed(framed(Where::Host, "if %yes { yield } else_body { yield }"));
    REQUIRE(verify(kernel, Form::Typed).empty());
    breakage.make(kernel);
    auto violations = verify(kernel, Form::Typed);
    REQUIRE(!violations.empty());
    for (const Violation& v : violations) CHECK(v.code == breakage.code);
    CHECK(!print(kernel).empty());
  }
}

TEST_CASE("a layout of another shape or kind does not cover") {
  for (bool is_reg : {true, false}) {
    Kernel kernel =
        parsed(framed(Where::Placed, "%a = splat %real : tile<16x8 f32 @ reg(c0 r3) lane(c1 c2 r0 r1 r2)>"));
    REQUIRE(verify(kernel, Form::Placed).empty());
    for (Value& value : kernel.values) {
      Type type = kernel.types[value.type];
      if (!type.is_tile()) continue;
      if (is_reg)
        type.shape[0] = 32;
      else
        type.layout = kernel.layouts.intern(layout::row_major({16, 8}));
      value.type = kernel.types.intern(type);
    }
    CHECK(codes(kernel) == std::set<std::string_view>{"V013"});
  }
}

TEST_CASE("every law has a mistake that breaks it") {
  std::set<std::string_view> provoked = {"V013"};
  for (const Mistake& mistake : kMistakes) provoked.insert(mistake.code);
  for (const Breakage& breakage : kBreakages) provoked.insert(breakage.code);
  for (const Law& law : laws()) CHECK_MESSAGE(provoked.contains(law.code), law.code << ": " << law.text);
}

TEST_CASE("every sample holds what its form promises") {
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(__FILE__).parent_path() / "../ir")) {
    CAPTURE(entry.path().filename().string());
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    Kernel kernel = parsed(text.str());
    for (const Violation& v : verify(kernel, kernel.form)) FAIL_CHECK(v.code << " " << v.text);
  }
}

TEST_CASE("a violation says the pass, the value and the code") {
  Kernel kernel = parsed(framed(Where::Placed, "%t_90 = splat %real : tile<16x8 f32>"));
  auto violations = verify(kernel, Form::Placed);
  REQUIRE(violations.size() == 1);
  CHECK(internal_error(violations[0], "place") == "internal error after pass 'place': tile %t_90 has no layout [V012]");
  CHECK(violations[0].op.valid());
}
