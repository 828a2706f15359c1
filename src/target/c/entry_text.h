// Descriptor tables and exported functions as C text.
#pragma once
#include "target/abi/descriptor.h"

namespace tilec::target::c {

std::string table_text(const Table& table);
std::string entry_text(const Export& exported, const Abi& abi, const EntryAbi& entry);

}  // namespace tilec::target::c
