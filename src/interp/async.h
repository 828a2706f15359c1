// Operations in flight.
#pragma once
#include "interp/strand.h"

namespace tilec::interp {

// A new operation in flight that knows what its issuer knows.
uint32_t take_off(Strand& s, const Instr& i, std::string name);
// Of an engine, which fences what it writes itself.
uint32_t take_off(Strand& s, const Instr& i, std::string name, const TileData& data);
Clock clock_of(const Cluster& cluster, const Flying& f);
// What this agent has written so far is there for engines that know of this.
void fence(Cluster& cluster, uint32_t agent, uint64_t now);

// Moves the data now, if it has not moved yet.
void land(Cluster& cluster, uint32_t id);
void land_part(Cluster& cluster, Flying& f);  // of a group's product
void land_box(Cluster& cluster, Flying& f);
// Has whoever wrote the byte fenced it behind that, as far as the issuer knows? Or the issuer itself, behind what told it of it?
bool is_fenced(const Cluster& cluster, const Flying& f, Stamp written);
// The same, and orders what `s` does from now on after it.
void join(Strand& s, uint32_t id);
// Where the block ends: false when a warp has issued fewer products than others of its group.
bool check_groups(Run& run, Block& block);

// The view of the same buffer in block `number` of the cluster; none: a fault was recorded.
std::optional<View> peer_view(Strand& s, const Instr& i, const View& view, int64_t number);
// The barrier that an instruction names by view `a` and register `b`. None: a fault was recorded.
PhaseBarrier* phase_barrier(Strand& s, const Instr& i);
// The same of a view and its slot.
PhaseBarrier* phase_barrier(Strand& s, const Instr& i, const View& view, int64_t index);
// A copy has moved so many bytes: its phase may end, and whoever waits for that knows of the copy.
void count_bytes(Cluster& cluster, const Flying& copy, int64_t bytes);
// The same for a copy by lanes whose threads arrive with it.
void count_arrivals(Cluster& cluster, const Flying& copy);

}  // namespace tilec::interp
