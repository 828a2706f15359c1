#include "driver/manual.h"

#include <CLI/CLI.hpp>

#include "base/text.h"
#include "driver/options.h"

namespace tilec {

namespace {

// Options of gcc's have one dash; the parser knows them by two.
std::string as_written(const std::string& name) { return name.starts_with("--M") ? name.substr(1) : name; }

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back(as_written("--" + name));
  return names;
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return !option->get_positional(); });
}

// A dash and a backslash mean something to troff; so does a dot that begins a line.
std::string for_troff(std::string_view text) {
  std::string out;
  for (char c : text) out += c == '-' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out.starts_with('.') ? "\\&" + out : out;
}

void add_options(const CLI::App& app, std::string& out) {
  for (const CLI::Option* option : options_of(app)) {
    bool takes_value = option->get_items_expected_max() > 0;
    out += ".TP\n.B " + for_troff(join(names_of(*option), ", ")) + (takes_value ? " VALUE" : "") + "\n" +
           for_troff(option->get_description()) + "\n";
  }
}

}  // namespace

std::string manual_text() {
  std::string out = ".TH TILEC 1 \"\" \"tilec " + std::string(kVersion) + "\"\n.SH NAME\n";
  with_option_table([&](const CLI::App& app) {
    std::string summary = app.get_description();
    out += "tilec \\- " + for_troff(summary.substr(summary.find(": ") + 2)) + "\n.SH SYNOPSIS\n.B tilec\n[verb] [options] inputs\n.SH OPTIONS\n";
    add_options(app, out);
    for (const CLI::App* verb : app.get_subcommands(nullptr)) {
      out += ".SH TILEC " + verb->get_name() + "\n" + for_troff(verb->get_description()) + "\n";
      add_options(*verb, out);
    }
    out += ".SH NOTES\n" + for_troff(app.get_footer()) + "\n";
  });
  return out;
}

namespace {

// Calls `each(verb, options, help)` for every verb.
template <class Each> void each_verb(Each&& each) {
  with_option_table([&](const CLI::App& app) {
    for (const CLI::App* verb : app.get_subcommands(nullptr)) each(*verb, options_of(*verb));
  });
}

std::string words_of(const std::vector<const CLI::Option*>& options) {
  std::vector<std::string> words;
  for (const CLI::Option* option : options)
    for (std::string& name : names_of(*option)) words.push_back(std::move(name));
  return join(words, " ");
}

// `    check) options=(...) ;;` for each verb, between `before` and `after`; the verbs.
std::string cases_text(std::string_view before, std::string_view after, std::string& verbs) {
  std::string cases;
  each_verb([&](const CLI::App& verb, const std::vector<const CLI::Option*>& options) {
    verbs += (verbs.empty() ? "" : " ") + verb.get_name();
    cases += "    " + verb.get_name() + ") options=" + std::string(before) + words_of(options) + std::string(after) + " ;;\n";
  });
  return cases;
}

std::string in_quotes_of_fish(std::string_view text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string completions_text() {
  std::string verbs, cases = cases_text("\"", "\"", verbs);
  return "# bash: source this file; zsh: after `autoload -U bashcompinit && bashcompinit`\n_tilec() {\n"
         "  local word=\"${COMP_WORDS[COMP_CWORD]}\" verb=compile verbs=\"" + verbs + "\" options each\n"
         "  for each in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n    [[ \" $verbs \" == *\" $each \"* ]] && verb=$each\n  done\n"
         "  case $verb in\n" + cases + "  esac\n  [[ $COMP_CWORD == 1 ]] && options=\"$verbs $options\"\n"
         "  COMPREPLY=($(compgen -W \"$options\" -- \"$word\") $(compgen -f -X '!*.tile' -- \"$word\") $(compgen -d -- \"$word\"))\n"
         "}\ncomplete -o filenames -F _tilec tilec\n";
}

std::string zsh_completions_text() {
  std::string verbs, cases = cases_text("(", ")", verbs);
  return "#compdef tilec\nlocal verb=compile each\nlocal -a verbs options\nverbs=(" + verbs + ")\n"
         "for each in ${words[2,CURRENT-1]}; do\n  (( ${verbs[(Ie)$each]} )) && verb=$each\ndone\n"
         "case $verb in\n" + cases + "esac\n(( CURRENT == 2 )) && options=($verbs $options)\n"
         "compadd -a options\n_files -g '*.tile'\n";
}

std::string fish_completions_text() {
  std::string verbs, lines;
  each_verb([&](const CLI::App& verb, const std::vector<const CLI::Option*>& options) {
    std::string name = verb.get_name();
    verbs += (verbs.empty() ? "" : " ") + name;
    lines += "complete -c tilec -n '__fish_use_subcommand' -a " + name + " -d " + in_quotes_of_fish(verb.get_description()) + "\n";
    for (const CLI::Option* option : options) {
      std::string spelled;
      for (const std::string& word : names_of(*option))
        spelled += word.starts_with("--") ? " -l " + word.substr(2) : word.size() == 2 ? " -s " + word.substr(1) : " -o " + word.substr(1);
      std::string where = name == "compile" ? "__tilec_compiles" : "__fish_seen_subcommand_from " + name;
      lines += "complete -c tilec -n '" + where + "'" + spelled + (option->get_items_expected_max() > 0 ? " -r" : "") + " -d " + in_quotes_of_fish(option->get_description()) + "\n";
    }
  });
  // Without a verb, tilec compiles.
  return "function __tilec_compiles\n  __fish_seen_subcommand_from compile; or not __fish_seen_subcommand_from " + verbs + "\nend\n" + lines;
}

}  // namespace tilec
