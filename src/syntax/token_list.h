// The tokens of a file for ANTLR's parser: all of them at hand and all for the parser, so that looking ahead is indexing.
#pragma once
#include "TileParser.h"
#include "syntax/tokens.h"

namespace tilec::syntax {

class TokenList final : public antlr4::TokenStream {
 public:
  // They end with EOF.
  explicit TokenList(std::vector<TokenPointer> tokens) : tokens_(std::move(tokens)) {
    for (size_t i = 0; i < tokens_.size(); ++i) static_cast<antlr4::CommonToken*>(tokens_[i].get())->setTokenIndex(i);
  }

  antlr4::Token* LT(ssize_t k) override {
    if (k < 0) return size_t(-k) > at_ ? nullptr : tokens_[at_ - size_t(-k)].get();
    return tokens_[std::min(at_ + size_t(k) - 1, tokens_.size() - 1)].get();
  }
  size_t LA(ssize_t k) override { return LT(k)->getType(); }
  void consume() override { at_ += at_ + 1 < tokens_.size(); }
  size_t index() override { return at_; }
  void seek(size_t index) override { at_ = std::min(index, tokens_.size() - 1); }
  size_t size() override { return tokens_.size(); }
  antlr4::Token* get(size_t index) const override { return tokens_[index].get(); }

  // What the parser asks of streams that forget, and for messages of its own.
  ssize_t mark() override { return 0; }
  void release(ssize_t) override {}
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  std::string getSourceName() const override { return {}; }
  std::string getText(const antlr4::misc::Interval&) override { return {}; }
  std::string getText() override { return {}; }
  std::string getText(antlr4::RuleContext*) override { return {}; }
  std::string getText(antlr4::Token*, antlr4::Token*) override { return {}; }

 private:
  std::vector<TokenPointer> tokens_;
  size_t at_ = 0;
};

// The generated parser, whose every rule begins here; its base asks what the context is, which can be nothing else.
class Parser final : public TileParser {
 public:
  explicit Parser(antlr4::TokenStream* tokens) : TileParser(tokens) {}
  void enterRule(antlr4::ParserRuleContext* context, size_t state, size_t) override {
    setState(state);
    setContext(context);
    context->start = _input->LT(1);
    auto* parent = static_cast<antlr4::ParserRuleContext*>(context->parent);
    if (parent) parent->addChild(context);
  }
};

}  // namespace tilec::syntax
