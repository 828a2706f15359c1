// What the parser does when the text does not fit the grammar: says so in our words and goes on at the next statement
// or declaration.
#pragma once
#include <antlr4-runtime.h>

#include <deque>
#include <set>

#include "diag/sink.h"
#include "syntax/tokens.h"

namespace tilec::syntax {

class Recovery final : public antlr4::DefaultErrorStrategy {
 public:
  Recovery(const Input& input, const std::vector<Span>& damaged, const Patience& patience, Diagnostics& diagnostics)
      : input_(input), damaged_(damaged), patience_(patience), diagnostics_(diagnostics) {}
  bool has_recovered() const { return has_recovered_; }

  void reportError(antlr4::Parser* parser, const antlr4::RecognitionException& error) override;
  void recover(antlr4::Parser* parser, std::exception_ptr error) override;
  antlr4::Token* recoverInline(antlr4::Parser* parser) override;
  void sync(antlr4::Parser* parser) override;

 private:
  void report(antlr4::Parser& parser, const antlr4::Token& found, const antlr4::misc::IntervalSet& expected);
  void report_missing_semicolon(antlr4::Parser& parser);
  void lose_patience(const antlr4::Token& at);  // throws ParseCancellationException when it is over
  antlr4::Token* imagine_semicolon(const antlr4::Token& before);
  bool is_damaged(const antlr4::Token& token) const;
  std::string wanted(antlr4::Parser& parser, const antlr4::misc::IntervalSet& expected) const;
  std::string shown(const antlr4::Token& token) const;

  const Input& input_;
  const std::vector<Span>& damaged_;
  const Patience& patience_;
  Diagnostics& diagnostics_;
  bool has_recovered_ = false;
  std::deque<antlr4::CommonToken> imagined_;
  size_t stuck_at_ = ~size_t(0);     // the token that the last recovery stopped at,
  std::set<size_t> stuck_states_;  // and the states in which it did
};

}  // namespace tilec::syntax
