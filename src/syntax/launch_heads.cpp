// Heads of launches and of loops as others write them, `launch (i, j in M, N)`, `launch threads 128 (i in N)`, `launch (i in N) threads (16, 16)`,
// `launch<<<N, 128>>>`, `parallel (c in 32) { }`: said once, with what to write, and read as that.
#include <array>

#include "TileLexer.h"
#include "diag/diag.h"
#include "syntax/tokens.h"
#include "syntax/token_edits.h"

namespace tilec::syntax {
namespace {

using L = TileLexer;

bool begins_option(size_t type) { return type == L::THREADS || type == L::CLUSTER || type == L::PERSISTENT || type == L::RASTER || type == L::SPLIT; }
constexpr std::array<std::string_view, 4> kLoops = {"parallel", "pipelined", "unroll", "vectorized"};

struct Part {
  size_t begin, end;
};

class Heads : TokenEdits {
 public:
  Heads(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics) : TokenEdits(input, tokens, patience, diagnostics) {}

  void run() {
    for (size_t i = 0; i < list_.size() && !patience_.is_over(diagnostics_); ++i) {
      if (type(i) == L::LAUNCH) chevrons(i), options_first(i), joined_axes(i);
      bool is_option = i > 0 && (type(i - 1) == L::RIGHT_PAREN || type(i - 1) == L::INTEGER || type(i - 1) == L::PERSISTENT || type(i - 1) == L::ID);
      if (type(i) == L::THREADS && is_option && (type(i + 1) == L::LEFT_PAREN || type(i + 1) == L::LEFT_BRACKET)) joined_threads(i);
      bool begins = i > 0 && (type(i - 1) == L::SEMICOLON || type(i - 1) == L::LEFT_BRACE || type(i - 1) == L::RIGHT_BRACE);
      if (begins && type(i) == L::ID && std::ranges::find(kLoops, text(i)) != kLoops.end()) bare_loop(i);
    }
  }

 private:
  void report(Span span, const std::string& theirs, const std::string& ours, std::vector<Fix> fixes, const std::string& why) {
    diagnostics_.at(span).error(diag::ExpectedToken, "`" + ours + "`", "`" + theirs + "`").fix(std::move(fixes), why);
  }

  // What stands between commas, from `begin` to a word that ends the list.
  std::vector<Part> parts(size_t begin) const {
    std::vector<Part> all;
    int depth = 0;
    for (size_t k = begin; k < list_.size(); ++k) {
      size_t t = type(k);
      bool closes = t == L::RIGHT_PAREN || t == L::RIGHT_BRACKET, ends = depth == 0 && (closes || t == L::IN || t == L::LEFT_BRACE || t == L::COMMA);
      if (ends || t == L::SEMICOLON || t == L::RIGHT_BRACE) all.push_back({begin, k}), begin = k + 1;
      if (depth < 0 || t == L::SEMICOLON || t == L::RIGHT_BRACE || (ends && t != L::COMMA)) break;
      depth += (t == L::LEFT_PAREN || t == L::LEFT_BRACKET) - closes;
    }
    return all;
  }
  bool are_names(const std::vector<Part>& all) const {
    return std::ranges::all_of(all, [&](Part p) { return p.end == p.begin + 1 && is_name(type(p.begin)); });
  }
  static bool are_whole(const std::vector<Part>& all) { return std::ranges::all_of(all, [](Part p) { return p.end > p.begin; }); }

  // Names and extents in two lists: where these begin and the head ends.
  struct Lists {
    std::vector<Part> names, extents;
    size_t begin, end;
  };
  // `i, j in M, N`, each list in parentheses or not; none where it is any other.
  std::optional<Lists> lists(size_t begin) const {
    Lists found{.names = {}, .extents = {}, .begin = begin, .end = begin};
    size_t open = type(begin) == L::LEFT_PAREN;
    found.names = parts(begin + open);
    if (found.names.empty() || (open && type(found.names.back().end) != L::RIGHT_PAREN)) return std::nullopt;
    size_t in = found.names.back().end + open;
    if (type(in) != L::IN) return std::nullopt;
    size_t second = type(in + 1) == L::LEFT_PAREN;
    found.extents = parts(in + 1 + second);
    if (found.extents.empty() || !are_names(found.names) || !are_whole(found.extents) || found.names.size() != found.extents.size()) return std::nullopt;
    if (second && type(found.extents.back().end) != L::RIGHT_PAREN) return std::nullopt;
    found.end = found.extents.back().end + second;
    return found;
  }

  // `launch (i, j in M, N)`, `launch ((i, j) in (M, N))`, `launch (i, j) in (M, N)`.
  void joined_axes(size_t i) {
    if (type(i + 1) != L::LEFT_PAREN) return;
    std::optional<Lists> found = lists(i + 2);
    bool is_inside = found && type(found->end) == L::RIGHT_PAREN;
    if (!is_inside) found = lists(i + 1);
    if (!found || found->names.size() < 2 || (!is_inside && type(found->end) == L::RIGHT_PAREN)) return;
    std::string ours;
    std::vector<TokenPointer> turned;
    for (size_t k = 0; k < found->names.size(); ++k) {
      Part name = found->names[k], extent = found->extents[k];
      ours += (k == 0 ? "" : ", ") + text(name.begin, name.end) + " in " + text(extent.begin, extent.end);
    }
    if (!is_inside) ours = "(" + ours + ")";
    report(span(found->begin, found->end), text(found->begin, found->end), ours, {{span(found->begin, found->end), ours}}, "each axis has its extent beside it");
    const antlr4::Token& last = *list_[found->end];
    if (!is_inside) turned.push_back(imagined_before(last, L::LEFT_PAREN));
    for (size_t k = 0; k < found->names.size(); ++k) {
      if (k > 0) turned.push_back(imagined_before(last, L::COMMA));
      turned.push_back(std::move(list_[found->names[k].begin])), turned.push_back(imagined_before(last, L::IN));
      for (size_t n = found->extents[k].begin; n < found->extents[k].end; ++n) turned.push_back(std::move(list_[n]));
    }
    if (!is_inside) turned.push_back(imagined_before(last, L::RIGHT_PAREN));
    put(found->begin, found->end, std::move(turned));
  }

  // `threads (16, 16)`: one number.
  void joined_threads(size_t i) {
    std::vector<Part> all = parts(i + 2);
    size_t closer = type(i + 1) == L::LEFT_PAREN ? L::RIGHT_PAREN : L::RIGHT_BRACKET;
    if (all.size() < 2 || !are_whole(all) || type(all.back().end) != closer) return;
    std::string product;
    for (Part p : all) product += (product.empty() ? "" : " * ") + (p.end == p.begin + 1 ? text(p.begin) : "(" + text(p.begin, p.end) + ")");
    size_t end = all.back().end + 1;
    report(span(i + 1, end), text(i + 1, end), product, {{span(i + 1, end), product}}, "the threads of a block are counted by one number: `simt (t)` has `t / 16` and `t % 16`");
    for (Part p : all)
      if (p.begin != all[0].begin) retype(p.begin - 1, L::STAR);
    retype(i + 1, L::LEFT_PAREN), retype(end - 1, L::RIGHT_PAREN);
  }

  // `launch threads 128 (i in N)`.
  void options_first(size_t i) {
    if (!begins_option(type(i + 1)) || type(i + 2) == L::IN) return;
    size_t open = i + 1;
    while (open < list_.size() && !(type(open) == L::LEFT_PAREN && is_name(type(open + 1)) && type(open + 2) == L::IN))
      if (type(open) == L::SEMICOLON || type(open) == L::LEFT_BRACE || type(open) == L::RIGHT_BRACE) return;
      else ++open;
    std::optional<size_t> close = close_of(open);
    if (!close) return;
    std::string options = text(i + 1, open);
    report(span(i + 1, open), options, "(", {{input_.span(list_[i + 1]->getStartIndex(), list_[open]->getStartIndex()), ""}, {behind(*close), " " + options}},
           "options of a launch stand behind its axes");
    std::rotate(list_.begin() + ssize_t(i) + 1, list_.begin() + ssize_t(open), list_.begin() + ssize_t(*close) + 1);
  }
  std::optional<size_t> close_of(size_t open) const {
    int depth = 0;
    for (size_t k = open; k < list_.size() && type(k) != L::SEMICOLON && type(k) != L::LEFT_BRACE; ++k) {
      depth += (type(k) == L::LEFT_PAREN) - (type(k) == L::RIGHT_PAREN);
      if (depth == 0) return k;
    }
    return std::nullopt;
  }

  // `launch<<<N, 128>>> { }`, and with axes behind it.
  void chevrons(size_t i) {
    if (type(i + 1) != L::SHIFT_LEFT || type(i + 2) != L::LESS) return;
    size_t end = i + 3;
    while (end < list_.size() && !(type(end) == L::SHIFT_RIGHT && type(end + 1) == L::GREATER) && type(end) != L::SEMICOLON && type(end) != L::LEFT_BRACE) ++end;
    if (type(end) != L::SHIFT_RIGHT || end == i + 3) return;
    size_t comma = i + 3, depth = 0;
    for (; comma < end && !(depth == 0 && type(comma) == L::COMMA); ++comma) depth += type(comma) == L::LEFT_PAREN, depth -= type(comma) == L::RIGHT_PAREN && depth > 0;
    std::string blocks = text(i + 3, comma), ours = "(i in " + blocks + ")", threads = comma + 1 < end && type(comma + 1) == L::INTEGER ? " threads " + text(comma + 1) : "";
    size_t behind_head = end + 2;
    bool has_axes = type(behind_head) == L::LEFT_PAREN && is_name(type(behind_head + 1)) && type(behind_head + 2) == L::IN;
    std::optional<size_t> close = has_axes ? close_of(behind_head) : std::nullopt;
    std::vector<Fix> fixes;
    Span head = input_.span(list_[i]->getStopIndex() + 1, list_[end + 1]->getStopIndex() + 1);
    if (close) fixes = {{head, " "}, {behind(*close), threads}}, ours = text(behind_head, *close + 1);
    else fixes = {{head, " " + ours + threads}};
    report(span(i + 1, behind_head), text(i + 1, behind_head), ours + threads, std::move(fixes), "the blocks of a launch are the indices of its axes, options stand behind them");
    if (close) return erase(i + 1, behind_head);
    std::vector<TokenPointer> turned;
    const antlr4::Token& last = *list_[behind_head];
    for (size_t word : {L::LEFT_PAREN, L::ID, L::IN}) turned.push_back(imagined_before(last, word));
    for (size_t n = i + 3; n < comma; ++n) turned.push_back(std::move(list_[n]));
    turned.push_back(imagined_before(last, L::RIGHT_PAREN));
    put(i + 1, behind_head, std::move(turned));
  }

  // `parallel (c in 32) { }`, `parallel (r in 4, c in 8) { }`, `parallel c in 32 { }`.
  void bare_loop(size_t i) {
    bool has_brackets = type(i + 1) == L::LEFT_PAREN;
    std::vector<Part> names, extents;
    size_t at = i + 1 + has_brackets;
    if (auto joined = lists(at)) {
      names = joined->names, extents = joined->extents, at = joined->end;
    } else {
      for (;;) {
        std::vector<Part> extent = is_name(type(at)) && type(at + 1) == L::IN ? parts(at + 2) : std::vector<Part>{};
        if (extent.empty()) return;
        names.push_back({at, at + 1}), extents.push_back(extent[0]);
        at = extent[0].end;
        if (type(at) != L::COMMA) break;
        ++at;
      }
    }
    if (has_brackets && type(at) != L::RIGHT_PAREN) return;
    size_t block = at + has_brackets;
    if (type(block) != L::LEFT_BRACE || !are_whole(extents)) return;
    std::string pattern, domain, word = text(i);
    for (Part p : names) pattern += (pattern.empty() ? "" : ", ") + text(p.begin, p.end);
    for (Part p : extents) domain += (domain.empty() ? "" : ", ") + text(p.begin, p.end);
    if (names.size() > 1) pattern = "(" + pattern + ")";
    std::string ours = "for " + pattern + " in " + word + "(" + domain + ")";
    report(span(i, block), text(i, block), ours, {{span(i, block), ours}}, "how a loop runs stands behind `in`");
    turn_loop(i, block, names, extents);
  }
  void turn_loop(size_t i, size_t block, const std::vector<Part>& names, const std::vector<Part>& extents) {
    std::vector<TokenPointer> turned;
    const antlr4::Token& last = *list_[block];
    auto list = [&](const std::vector<Part>& all, bool has_brackets) {
      if (has_brackets) turned.push_back(imagined_before(last, L::LEFT_PAREN));
      for (Part p : all) {
        if (p.begin != all[0].begin) turned.push_back(imagined_before(last, L::COMMA));
        for (size_t n = p.begin; n < p.end; ++n) turned.push_back(std::move(list_[n]));
      }
      if (has_brackets) turned.push_back(imagined_before(last, L::RIGHT_PAREN));
    };
    turned.push_back(imagined_before(last, L::FOR));
    list(names, names.size() > 1);
    turned.push_back(imagined_before(last, L::IN)), turned.push_back(std::move(list_[i]));
    list(extents, true);
    put(i, block, std::move(turned));
  }

  void put(size_t begin, size_t end, std::vector<TokenPointer> turned) {
    erase(begin, end);
    list_.insert(list_.begin() + ssize_t(begin), std::make_move_iterator(turned.begin()), std::make_move_iterator(turned.end()));
  }
};

}  // namespace

void turn_launch_heads(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics) { Heads(input, tokens, patience, diagnostics).run(); }

}  // namespace tilec::syntax
