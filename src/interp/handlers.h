// The instructions: one function each, and the choice among those of one operation by type.
#pragma once
#include "interp/strand.h"

namespace tilec::interp {

// Scalars (scalar_handlers.cpp, float_handlers.cpp, integer_handlers.cpp, convert_handlers.cpp).
Handler unary_handler(ir::UnaryFn fn, Scalar type, Numeric numeric);
Handler binary_handler(ir::BinaryFn fn, Scalar type, Numeric numeric);
Handler float_binary_handler(ir::BinaryFn fn, Scalar type, Numeric numeric);  // null: no fast one
Handler integer_binary_handler(ir::BinaryFn fn, Scalar type);                 // null: no fast one
Handler fma_handler(Scalar type, Numeric numeric);
Status do_overflows(Strand&, const Instr&);
Handler compare_handler(ir::CompareFn fn, Scalar type);
Handler convert_handler(Scalar from, Scalar to, ir::ConvertMode mode);
Status do_keep(Strand&, const Instr&);  // dst <- a, as wide as it is
Status do_select(Strand&, const Instr&);

// Control (control_handlers.cpp).
Status do_move(Strand&, const Instr&);       // dst <- a, `imm` registers, lanes of the mask
Status do_copy(Strand&, const Instr&);       // the same, all lanes
Status do_move_tile(Strand&, const Instr&);  // fast: takes it away
Status do_move_view(Strand&, const Instr&);
Status do_move_handle(Strand&, const Instr&);
Status do_jump(Strand&, const Instr&);         // to imm
Status do_watched_jump(Strand&, const Instr&);  // to imm, at the end of a loop that changes nothing but by atomics; data a
Status do_jump_unless(Strand&, const Instr&);  // uniform condition a
Status do_if(Strand&, const Instr&);           // masks: level b, condition a, to imm when no lane holds
Status do_else(Strand&, const Instr&);
Status do_end_if(Strand&, const Instr&);
Status do_loop_enter(Strand&, const Instr&);  // saves the mask at level b; checks step c
Status do_loop_test(Strand&, const Instr&);   // dst < a, else to imm; masks when not uniform
Status do_loop_next(Strand&, const Instr&);   // dst += c, to imm
Status do_while_test(Strand&, const Instr&);  // keeps the lanes where a holds; none: to imm
Status do_loop_exit(Strand&, const Instr&);   // restores the mask
Status do_done(Strand&, const Instr&);
Status do_check_uniform(Strand&, const Instr&);

// The host (launch.cpp).
Status do_launch(Strand&, const Instr&);
Status do_check_extent(Strand&, const Instr&);
Status do_check_stride(Strand&, const Instr&);
Status do_check_requirement(Strand&, const Instr&);

// Memory (memory_handlers.cpp, mem_handlers.cpp, atomic_handlers.cpp).
Status do_alloc(Strand&, const Instr&);
Status do_subview(Strand&, const Instr&);
Status do_extent(Strand&, const Instr&);
Status do_stride(Strand&, const Instr&);
Status do_present(Strand&, const Instr&);
Status do_element_load(Strand&, const Instr&);
Status do_element_store(Strand&, const Instr&);
Status do_atomic(Strand&, const Instr&);
Status do_mem_load(Strand&, const Instr&);
Status do_mem_store(Strand&, const Instr&);
Status do_mem_atomic(Strand&, const Instr&);

// Tiles (tile_memory.cpp, tile_ops.cpp, tile_math.cpp).
Status do_tile_load(Strand&, const Instr&);
Status do_tile_store(Strand&, const Instr&);
Status do_tile_copy(Strand&, const Instr&);
Status do_splat(Strand&, const Instr&);
Status do_gemm(Strand&, const Instr&);
Status do_reduce(Strand&, const Instr&);
Status do_vote_tile(Strand&, const Instr&);
Status do_scan(Strand&, const Instr&);
Status do_permute(Strand&, const Instr&);
Status do_reshape(Strand&, const Instr&);
Status do_insert(Strand&, const Instr&);
Status do_extract(Strand&, const Instr&);
Status do_convert_layout(Strand&, const Instr&);

// Regions that run on frames of their own (fork.cpp).
Status do_map(Strand&, const Instr&);
Status do_simt(Strand&, const Instr&);
Status do_roles(Strand&, const Instr&);

// Warps (warp_handlers.cpp, barrier_handlers.cpp, atom_handlers.cpp).
Status do_thread_index(Strand&, const Instr&);
Status do_lane_index(Strand&, const Instr&);
Status do_warp_index(Strand&, const Instr&);
Status do_shuffle(Strand&, const Instr&);
Status do_vote(Strand&, const Instr&);
Status do_warp_reduce(Strand&, const Instr&);
Status do_block_barrier(Strand&, const Instr&);
Status do_role_barrier(Strand&, const Instr&);
Status do_named_barrier(Strand&, const Instr&);
Status do_barrier_vote(Strand&, const Instr&);
Status do_warp_barrier(Strand&, const Instr&);
Status do_cluster_barrier(Strand&, const Instr&);
Status do_cluster_blocks(Strand&, const Instr&);
Status do_grid_blocks(Strand&, const Instr&);
Status do_take_block(Strand&, const Instr&);
Status do_block_number(Strand&, const Instr&);
Status do_block_index(Strand&, const Instr&);
Status do_peer_view(Strand&, const Instr&);
Status do_phase_init(Strand&, const Instr&);
Status do_phase_arrive(Strand&, const Instr&);
Status do_phase_arrive_at(Strand&, const Instr&);
Status do_phase_wait(Strand&, const Instr&);
Status do_fault(Strand&, const Instr&);
Status do_atom(Strand&, const Instr&);

// Products of groups of warps (group_handlers.cpp).
Status do_engine_fence(Strand&, const Instr&);
Status do_is_aligned(Strand&, const Instr&);
Status do_copy_lanes(Strand&, const Instr&);
Status do_load_matrices(Strand&, const Instr&);
Status do_phase_follow(Strand&, const Instr&);
Status do_group_fence(Strand&, const Instr&);
Status do_group_product(Strand&, const Instr&);
Status do_group_commit(Strand&, const Instr&);
Status do_group_wait(Strand&, const Instr&);

Status do_store_matrices(Strand&, const Instr&);
Status do_turn_matrix(Strand&, const Instr&);

// Boxes (box_handlers.cpp).
Status do_copy_box(Strand&, const Instr&);
Status do_store_box(Strand&, const Instr&);
Status do_await_stores(Strand&, const Instr&);

// Staged (async_handlers.cpp, ring_handlers.cpp).
Status do_copy_async(Strand&, const Instr&);
Status do_await_copy(Strand&, const Instr&);
Status do_begin_flight(Strand&, const Instr&);
Status do_gemm_async(Strand&, const Instr&);
Status do_await_gemm(Strand&, const Instr&);
Status do_ring_alloc(Strand&, const Instr&);
Status do_acquire(Strand&, const Instr&);
Status do_commit(Strand&, const Instr&);
Status do_wait(Strand&, const Instr&);
Status do_release(Strand&, const Instr&);

}  // namespace tilec::interp
