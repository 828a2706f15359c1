// What passes over the words of a file share that read words of other languages as what was meant: the words, and changes of them.
#pragma once
#include "CommonToken.h"
#include "diag/sink.h"
#include "syntax/recovery.h"
#include "syntax/tokens.h"

namespace tilec::syntax {

class TokenEdits {
 protected:
  TokenEdits(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics)
      : input_(input), list_(tokens.list), patience_(patience), diagnostics_(diagnostics) {}

  size_t type(size_t i) const { return i < list_.size() ? list_[i]->getType() : size_t(antlr4::Token::EOF); }
  std::string text(size_t i) const { return std::string(input_.spelling(*list_[i])); }
  // Of words from `begin` up to `end`, without it, as they are written.
  std::string text(size_t begin, size_t end) const {
    size_t first = list_[begin]->getStartIndex();
    return std::string(input_.text.substr(first, list_[end - 1]->getStopIndex() + 1 - first));
  }
  Span span(size_t begin, size_t end) const { return input_.span(list_[begin]->getStartIndex(), list_[end - 1]->getStopIndex() + 1); }
  Span front(size_t i) const { return input_.span(list_[i]->getStartIndex(), list_[i]->getStartIndex()); }
  Span behind(size_t i) const { return input_.span(list_[i]->getStopIndex() + 1, list_[i]->getStopIndex() + 1); }
  void retype(size_t i, size_t type) { dynamic_cast<antlr4::CommonToken&>(*list_[i]).setType(type); }
  void insert(size_t i, TokenPointer token) { list_.insert(list_.begin() + ssize_t(i), std::move(token)); }
  void imagine(size_t i, size_t type) { insert(i, imagined_before(*list_[i], type)); }
  void erase(size_t begin, size_t end) { list_.erase(list_.begin() + ssize_t(begin), list_.begin() + ssize_t(end)); }

  const Input& input_;
  std::vector<TokenPointer>& list_;
  const Patience& patience_;
  Diagnostics& diagnostics_;
};

}  // namespace tilec::syntax
