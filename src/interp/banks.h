// Bank conflicts of one access of a warp to shared memory, whose banks are 4 bytes wide.
#pragma once
#include <cstdint>

namespace tilec::interp {

struct Transactions {
  int phases = 0;  // the least number: wide accesses take several
  int needed = 0;  // the number that the banks allow
};
// `bytes` of each acting lane's access, each `width` bytes wide.
Transactions transactions(uint64_t acting, const int64_t* bytes, int width, int banks);

}  // namespace tilec::interp
