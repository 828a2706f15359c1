// Prints declarations and statements as lines; inside the folder only.
//
// What is printed consists of the tokens of the source, in their order: `emit` counts them, puts in commas and brackets that
// the tree does not know of, and breaks the line where a comment stands between two of them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "syntax/ast.h"
#include "syntax/format_parts.h"
#include "syntax/parse.h"

namespace tilec::syntax {

class Printer {
 public:
  Printer(const Ast& ast, std::string_view source) : ast_(ast), source_(source), parts_(source), tokens_(token_ranges(source)) {}
  std::string run();

 private:
  // format.cpp: lines and comments
  // Text without a comment, and the comments behind it.
  struct Piece {
    std::string marked;
    std::vector<ast::Comment> comments;
  };
  void begin_item(uint32_t begin);  // what comes before an item
  void comments_until(uint32_t offset);
  std::vector<Piece> pieces(std::string_view marked);
  bool begin_token(std::vector<Piece>& all);
  std::string_view next_token() const;
  std::string comment_text(const ast::Comment& comment) const;
  bool has_comma_behind(uint32_t end) const;
  std::string words_of(Span span) const;  // its tokens
  void blank_line_before(uint32_t offset);
  void emit(std::string_view marked, int more);
  void end_item(Span span) { last_end_ = span.end; }
  bool has_comments(Span span) const;
  bool is_one_line(Span span) const;

  // format_stmt.cpp
  void statement(const ast::Stmt& stmt);
  void compound(const ast::Stmt& stmt, const std::string& prefix);
  void body(const std::string& head, const ast::Block& block);
  void if_chain(std::string head, const ast::If& stmt);
  bool stays_one_line(const ast::Block& block) const;
  std::string one_line(const ast::Block& block) const;
  std::string simple_text(const ast::Stmt& stmt) const;
  std::string head_text(const ast::Stmt& stmt) const;
  const ast::Block* block_of(const ast::Stmt& stmt) const;
  std::string asm_text(const ast::Asm& node) const;
  std::string option_text(const ast::LaunchOption& option) const;
  std::string attributes_text(const std::vector<ast::Attribute>& list) const;
  std::string prefix_text(const ast::Stmt& stmt) const;

  // format_decl.cpp
  void declaration(const ast::Decl& decl);
  void enumeration(const ast::Enum& node, Span span, const std::string& prefix);
  void schedule(const ast::Schedule& node, const std::string& prefix);
  void function(const std::string& words, const ast::Signature& signature, const ast::Expr* condition,
      const ast::Block* block,
                const ast::Expr* value, Span span);
  void signature_lines(const std::string& head, const ast::Signature& signature, const std::string& tail);
  std::string parameter_text(const ast::Parameter& parameter) const;
  std::string generics_text(const ast::Signature& signature) const;
  std::string tail_text(const ast::Signature& signature, const ast::Expr* condition) const;
  std::string contract_text(const ast::Signature& signature) const;
  std::string item_text(const ast::ScheduleItem& item) const;
  std::string clauses_text(const std::vector<ast::Clause>& list) const;
  std::string line_text(const ast::Decl& decl) const;
  std::string where_text(const std::vector<ast::Argument>& where) const;
  std::string reference_text(const std::vector<ast::Name>& path, const std::vector<ast::Argument>& generics) const;

  const Ast& ast_;
  std::string_view source_;
  PartPrinter parts_;
  std::string out_;
  int depth_ = 0;
  std::vector<TextRange> tokens_;
  size_t next_comment_ = 0, next_token_ = 0;
  bool is_lost_ = false;  // something was printed that the source does not hold
  uint32_t last_end_ = 0;         // in the source: where what was printed last ended
  bool is_block_start_ = true;  // no blank line after `{` and at the start of the file
};

}  // namespace tilec::syntax
