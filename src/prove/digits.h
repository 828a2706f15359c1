// Digits of one number, `i / (B * C)`, `i / C % B`, `i % C`, however they are written, in one form: each quotient is one of the quotient
// before it, ((i / C) / B). So digits that agree tell at once that the numbers do.
#pragma once
#include <optional>

#include "prove/question.h"

namespace tilec::prove {

struct Digits {
  Question question;
  std::vector<std::pair<AtomId, AtomId>> variables;  // of the new question and of the old one
};

// Nothing where the question has no such quotients, or has them in this form.
std::optional<Digits> by_digits(Question& question);

}  // namespace tilec::prove
