// Layouts with small ids: equal layouts have equal ids, so that a type compares as an integer.
#pragma once
#include <deque>
#include <unordered_map>
#include <variant>

#include "base/id.h"
#include "layout/mem_layout.h"
#include "layout/reg_layout.h"

namespace tilec::layout {

using LayoutId = Id<struct LayoutTag>;

size_t hash_of(const RegLayout& layout);
size_t hash_of(const MemLayout& layout);

// The layouts of one compilation, of both kinds. They are kept in normal form and do not move once added.
class LayoutTable {
 public:
  LayoutId intern(const RegLayout& layout);
  LayoutId intern(const MemLayout& layout);
  bool is_reg(LayoutId id) const;
  bool is_mem(LayoutId id) const;
  const RegLayout& reg(LayoutId id) const;
  const MemLayout& mem(LayoutId id) const;
  size_t size() const { return layouts_.size(); }

 private:
  template <class Layout>
  LayoutId add(Layout layout);
  std::deque<std::variant<RegLayout, MemLayout>> layouts_;
  std::unordered_multimap<size_t, uint32_t> by_hash_;
};

}  // namespace tilec::layout
