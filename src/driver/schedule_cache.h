// Schedules that the exact search has found, in a folder: the next compile that asks the same has them at once.
#pragma once
#include <memory>
#include <string>

#include "ir/loop_memory.h"

namespace tilec {

// Of this run alone where `folder` is empty. A file holds a question and its answer in one text, under a name that follows from the question;
// one that is damaged or of another question counts as none, and one that cannot be written is left out.
std::unique_ptr<ir::LoopMemory> schedule_memory(const std::string& folder);

}  // namespace tilec
