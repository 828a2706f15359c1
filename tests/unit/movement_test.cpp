// What moves tiles of tests/kernels/movement.tile: engines and instructions of whole warps where they may, and lanes elsewhere. That they
// move the right numbers the tests of kernel files show.
#include "threads.h"

#include <sstream>

using namespace tilec;

TEST_SUITE("movement") {
  TEST_CASE("shared tiles are stored and added by the engine, where nothing else of the launch touches the tensor") {
    Threads threads(std::string(TILEC_TESTS) + "/kernels/movement.tile");
    std::string stored = threads.of("box_store_f16", "sm_90a");
    CHECK(count(stored, "store_box") == 1);
    CHECK(count(stored, "await_stores") == 1);
    CHECK(count(stored, "engine_fence") == 1);
    CHECK(count(threads.of("box_store_rows", "sm_90a"), "store_box") == 1);
    CHECK(count(threads.of("stored_again", "sm_90a"), "store_box") == 0);
    CHECK(count(threads.of("box_store_f16", "sm_80"), "store_box") == 0);
    for (const char* name : {"add_box_f32", "add_box_f16", "add_box_bf16"}) {
      std::string added = threads.of(name, "sm_90a");
      CHECK(count(added, "store_box") == 1);
      CHECK(count(added, "adds=true") == 1);
    }
    for (const char* name : {"add_some", "add_where"}) CHECK(count(threads.of(name, "sm_90a"), "store_box") == 0);
  }

  TEST_CASE("lanes have what they read of an engine's slot before they give it back") {
    Threads decoding(std::string(TILEC_TESTS) + "/../examples/flash_decoding/flash_decoding.tile");
    Threads product(std::string(TILEC_TESTS) + "/../examples/gemm/gemm.tile");
    const std::string given = "warp_barrier why=\"a lane gives the slot back", fence = "engine_fence";
    auto fenced = [&](const std::string& text) {
      size_t n = 0;
      for (size_t at = text.find(given); at != text.npos; at = text.find(given, at + 1)) {
        size_t end = text.find_last_not_of(" \n", at - 1) + 1;
        n += text.substr(0, end).ends_with(fence);
      }
      return n;
    };
    std::string by_lanes = decoding.of("flash_decoding_f16", "sm_90a"), by_engine = product.of("gemm_relu_f16", "sm_90a");
    CHECK(count(by_lanes, given) == 2);
    CHECK(fenced(by_lanes) == 2);
    CHECK(count(by_engine, given) > 0);
    CHECK(fenced(by_engine) == 0);
  }

  TEST_CASE("lanes add as many neighbours at once as their machine can") {
    Threads threads(std::string(TILEC_TESTS) + "/kernels/movement.tile");
    auto vectors = [](const std::string& text) {
      std::istringstream lines(text);
      size_t n = 0;
      // An addition whose old value nobody can ask for, and whose operand no loop exchanges.
      for (std::string line; std::getline(lines, line);) n += line.find("mem_atomic.add") != line.npos && line.find(" = ") == line.npos;
      return n;
    };
    for (const char* name : {"add_tile_f32", "add_tile_f16", "add_tile_bf16", "add_product"}) {
      CAPTURE(name);
      CHECK(vectors(threads.of(name, "sm_90a")) > 0);
      CHECK(vectors(threads.of(name, "sm_80")) == 0);
    }
    CHECK(count(threads.of("add_tile_f16", "sm_80"), "mem_atomic.compare_exchange") > 0);
    CHECK(count(threads.of("add_tile_f16", "sm_90a"), "mem_atomic.compare_exchange") == 0);
    CHECK(vectors(threads.of("add_some", "sm_90a")) == 0);
  }

  TEST_CASE("a tile is transposed in registers, and lanes of one warp meet where they may part") {
    Threads threads(std::string(TILEC_TESTS) + "/kernels/movement.tile");
    for (const char* machine : {"sm_80", "sm_90a"}) {
      std::string text = threads.of("turned_f16", machine);
      CHECK(count(text, "turn_matrix") == 16);
      CHECK(count(text, "block_barrier") == 1);
    }
    std::string on_cpu = threads.of("turned_f16", "x86-64-v3");
    CHECK(count(on_cpu, "turn_matrix") == 0);
    CHECK(count(on_cpu, "block_barrier") == 0);
  }

  TEST_CASE("a load says that nobody reads its bytes again where no other place and no round of a loop does") {
    Threads once(std::string(TILEC_TESTS) + "/../examples/vector_add/vector_add.tile"), again(std::string(TILEC_TESTS) + "/kernels/movement.tile");
    CHECK(count(once.of("vector_add_f32", "sm_90a"), "streams=true") > 0);
    CHECK(count(once.of("vector_add_f32", "x86-64-v3"), "streams=true") == 0);
    CHECK(count(again.of("read_once", "sm_90a"), "streams=true") == 0);
    CHECK(count(again.of("add_tile_f32", "sm_90a"), "streams=true") == 0);  // two blocks read each tile
  }
}
