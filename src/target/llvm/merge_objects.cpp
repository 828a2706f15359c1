#include "target/llvm/merge_objects.h"

#include <llvm/Object/ELF.h>

#include <cstring>
#include <map>
#include <vector>

#include "base/check.h"

namespace tilec::target {

namespace {

using namespace llvm::ELF;
using File = llvm::object::ELFFile<llvm::object::ELF64LE>;

// Structs of the format are copied as they lie in memory.
static_assert(std::endian::native == std::endian::little);
template <class T> void append(std::string& bytes, const T& value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); }
template <class T> T number_at(const std::string& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}
template <class T> void put(std::string& bytes, size_t at, const T& value) { std::memcpy(bytes.data() + at, &value, sizeof value); }
void align(std::string& bytes, uint64_t to) {
  if (to > 1) bytes.resize((bytes.size() + to - 1) / to * to);
}

template <class T> T got(llvm::Expected<T> value) {
  if (!value) UNREACHABLE("what LLVM wrote reads: " + llvm::toString(value.takeError()));
  return std::move(*value);
}

struct Section {
  std::string name, bytes;
  Elf64_Shdr header{};
};
struct Symbol {
  std::string name;
  Elf64_Sym entry{};
  uint32_t section = SHN_UNDEF;  // where `entry` says SHN_XINDEX, the number that it has no room for
  bool is_defined() const { return entry.st_shndx != SHN_UNDEF; }
};

uint8_t visibility_of(const Symbol& symbol) { return symbol.entry.st_other & 3; }

// Names behind one another, each once.
struct Names {
  std::string bytes = std::string(1, '\0');
  std::map<std::string, uint32_t> places = {{"", 0}};
  uint32_t place(const std::string& name) {
    auto [at, is_new] = places.emplace(name, uint32_t(bytes.size()));
    if (is_new) bytes.append(name).push_back('\0');
    return at->second;
  }
};

class Merger {
 public:
  void add(const std::string& object) {
    File file = got(File::create(object));
    auto headers = got(file.sections());
    if (sections_.empty()) header_ = *reinterpret_cast<const Elf64_Ehdr*>(object.data()), sections_.emplace_back();
    size_t first = sections_.size();
    std::vector<uint32_t> moved(headers.size());  // to which section; 0: left out
    SymbolTables tables;
    for (size_t i = 0; i < headers.size(); ++i) {
      if (headers[i].sh_type == SHT_SYMTAB) tables.symbols = &headers[i];
      if (headers[i].sh_type == SHT_SYMTAB_SHNDX) tables.far_sections = got(file.getSHNDXTable(headers[i], headers));
      if (is_kept(headers[i].sh_type, got(file.getSectionName(headers[i])))) moved[i] = uint32_t(add_section(file, headers[i]));
    }
    INVARIANT(tables.symbols, "an object has symbols");
    std::vector<uint32_t> renamed = add_symbols(file, tables, moved);
    for (size_t s = first; s < sections_.size(); ++s) connect(sections_[s], moved, renamed);
  }

  std::string finish() {
    std::vector<uint32_t> order = ordered_symbols();
    for (Section& section : sections_) each_symbol_of(section, [&](uint32_t id) { return order[id]; });
    uint32_t symbol_table = uint32_t(sections_.size());
    for (Section& section : sections_)
      if (section.header.sh_type == SHT_RELA || section.header.sh_type == SHT_GROUP) section.header.sh_link = symbol_table;
    add_symbol_tables(order, symbol_table);
    return written();
  }

 private:
  struct SymbolTables {
    const File::Elf_Shdr* symbols = nullptr;
    llvm::ArrayRef<File::Elf_Word> far_sections;  // by symbol, where one has a section of too high a number
  };
  struct TableFields {
    uint32_t link = 0, info = 0;
    uint64_t entry = 0;
  };

  // Tables of names and symbols are made anew, and one mark against stacks that run code is enough.
  bool is_kept(uint32_t type, llvm::StringRef name) {
    if (type == SHT_NULL || type == SHT_SYMTAB || type == SHT_SYMTAB_SHNDX || type == SHT_STRTAB || type == SHT_LLVM_ADDRSIG) return false;
    return name != ".note.GNU-stack" || !std::exchange(has_stack_note_, true);
  }

  size_t add_section(const File& file, const File::Elf_Shdr& header) {
    Section& section = sections_.emplace_back();
    section.name = got(file.getSectionName(header)).str();
    std::memcpy(&section.header, &header, sizeof header);
    if (header.sh_type == SHT_NOBITS) return sections_.size() - 1;
    auto bytes = got(file.getSectionContents(header));
    section.bytes.assign(bytes.begin(), bytes.end());
    return sections_.size() - 1;
  }

  // The number in symbols_ of each symbol of the object.
  std::vector<uint32_t> add_symbols(const File& file, const SymbolTables& tables, const std::vector<uint32_t>& moved) {
    auto entries = got(file.symbols(tables.symbols));
    llvm::StringRef names = got(file.getStringTableForSymtab(*tables.symbols));
    std::vector<uint32_t> renamed(entries.size());
    for (size_t i = 1; i < entries.size(); ++i) {
      Symbol symbol{got(entries[i].getName(names)).str(), {}};
      std::memcpy(&symbol.entry, &entries[i], sizeof symbol.entry);
      uint16_t& near = symbol.entry.st_shndx;
      if (near == SHN_XINDEX) symbol.section = moved[tables.far_sections[i]];
      else if (near < SHN_LORESERVE) symbol.section = moved[near];
      if (symbol.section != SHN_UNDEF) near = symbol.section < SHN_LORESERVE ? uint16_t(symbol.section) : uint16_t(SHN_XINDEX);
      renamed[i] = symbol.entry.getBinding() == STB_LOCAL ? add_symbol(std::move(symbol)) : add_global(std::move(symbol));
    }
    return renamed;
  }

  uint32_t add_symbol(Symbol symbol) {
    symbols_.push_back(std::move(symbol));
    return uint32_t(symbols_.size() - 1);
  }

  uint32_t add_global(Symbol symbol) {
    auto [at, is_new] = globals_.emplace(symbol.name, uint32_t(symbols_.size()));
    if (is_new) return add_symbol(std::move(symbol));
    Symbol& before = symbols_[at->second];
    INVARIANT(!before.is_defined() || !symbol.is_defined(), "one part gives a name: " + symbol.name);
    uint8_t visibility = std::max(visibility_of(before), visibility_of(symbol));  // the narrower of the two: default is 0
    if (symbol.is_defined()) before.entry = symbol.entry, before.section = symbol.section;
    before.entry.st_other = visibility;
    return at->second;
  }

  // Numbers of sections and symbols, as they are here. Symbols are still in the order of their coming.
  void connect(Section& section, const std::vector<uint32_t>& moved, const std::vector<uint32_t>& renamed) {
    Elf64_Shdr& header = section.header;
    bool is_of_section = header.sh_type == SHT_RELA || (header.sh_flags & SHF_INFO_LINK);
    if (is_of_section) header.sh_info = moved[header.sh_info];
    if (header.sh_flags & SHF_LINK_ORDER) header.sh_link = moved[header.sh_link];
    if (header.sh_type == SHT_GROUP)
      for (size_t at = sizeof(Elf64_Word); at < section.bytes.size(); at += sizeof(Elf64_Word))
        put(section.bytes, at, Elf64_Word(moved[number_at<Elf64_Word>(section.bytes, at)]));
    each_symbol_of(section, [&](uint32_t id) { return renamed[id]; });
  }

  template <class Renumber> void each_symbol_of(Section& section, Renumber&& renumber) {
    if (section.header.sh_type == SHT_GROUP) section.header.sh_info = renumber(section.header.sh_info);
    if (section.header.sh_type != SHT_RELA) return;
    for (size_t at = 0; at < section.bytes.size(); at += sizeof(Elf64_Rela)) {
      auto rela = number_at<Elf64_Rela>(section.bytes, at);
      if (rela.getSymbol() != 0) rela.setSymbol(renumber(rela.getSymbol()));
      put(section.bytes, at, rela);
    }
  }

  // Where each symbol goes: local ones first, as the format wants it. What is hidden is one of them now.
  std::vector<uint32_t> ordered_symbols() {
    for (Symbol& symbol : symbols_) {
      if (symbol.entry.getBinding() == STB_LOCAL || visibility_of(symbol) != STV_HIDDEN) continue;
      INVARIANT(symbol.is_defined(), "a part gives what another one asks for: " + symbol.name);
      symbol.entry.setBinding(STB_LOCAL);
      symbol.entry.st_other = STV_DEFAULT;
    }
    std::vector<uint32_t> order(symbols_.size());
    uint32_t next = 0;
    for (bool is_local : {true, false}) {
      for (size_t i = 0; i < symbols_.size(); ++i)
        if ((symbols_[i].entry.getBinding() == STB_LOCAL) == is_local) order[i] = ++next;
      if (is_local) locals_ = next;
    }
    return order;
  }

  void add_symbol_tables(const std::vector<uint32_t>& order, uint32_t at) {
    std::vector<const Symbol*> sorted(symbols_.size() + 1);
    for (size_t i = 0; i < symbols_.size(); ++i) sorted[order[i]] = &symbols_[i];
    Names names;
    std::string table(sizeof(Elf64_Sym), '\0'), far_sections(sizeof(Elf64_Word), '\0');
    for (size_t i = 1; i < sorted.size(); ++i) {
      Elf64_Sym entry = sorted[i]->entry;
      entry.st_name = names.place(sorted[i]->name);
      append(table, entry);
      append(far_sections, entry.st_shndx == SHN_XINDEX ? sorted[i]->section : Elf64_Word(0));
    }
    add_table(".symtab", SHT_SYMTAB, std::move(table), {.link = at + 1, .info = locals_ + 1, .entry = sizeof(Elf64_Sym)});
    add_table(".strtab", SHT_STRTAB, std::move(names.bytes), {});
    if (sections_.size() > SHN_LORESERVE)
      add_table(".symtab_shndx", SHT_SYMTAB_SHNDX, std::move(far_sections), {.link = at, .entry = sizeof(Elf64_Word)});
  }

  void add_table(const char* name, uint32_t type, std::string bytes, TableFields fields) {
    Section& section = sections_.emplace_back();
    section.name = name;
    section.bytes = std::move(bytes);
    section.header.sh_type = type;
    section.header.sh_link = fields.link, section.header.sh_info = fields.info, section.header.sh_entsize = fields.entry;
    section.header.sh_addralign = fields.entry ? alignof(Elf64_Sym) : 1;
  }

  std::string written() {
    Names names;
    add_table(".shstrtab", SHT_STRTAB, {}, {});
    for (Section& section : sections_) section.header.sh_name = names.place(section.name);
    sections_.back().bytes = std::move(names.bytes);
    std::string out(sizeof(Elf64_Ehdr), '\0');
    for (Section& section : sections_) {
      align(out, section.header.sh_addralign);
      if (section.header.sh_type == SHT_NULL) continue;
      section.header.sh_offset = out.size();
      if (section.header.sh_type != SHT_NOBITS) section.header.sh_size = section.bytes.size();
      out += section.bytes;
    }
    align(out, alignof(Elf64_Shdr));
    // Numbers that the header has no room for stand in the first section.
    size_t count = sections_.size(), names_at = count - 1;
    if (count >= SHN_LORESERVE) sections_[0].header.sh_size = std::exchange(count, 0);
    if (names_at >= SHN_LORESERVE) sections_[0].header.sh_link = uint32_t(std::exchange(names_at, SHN_XINDEX));
    header_.e_shoff = out.size(), header_.e_shnum = uint16_t(count), header_.e_shstrndx = uint16_t(names_at);
    for (const Section& section : sections_) append(out, section.header);
    put(out, 0, header_);
    return out;
  }

  Elf64_Ehdr header_{};
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
  std::map<std::string, uint32_t> globals_;
  uint32_t locals_ = 0;
  bool has_stack_note_ = false;
};

}  // namespace

std::string merged_objects(std::span<const std::string> objects) {
  Merger merger;
  for (const std::string& object : objects) merger.add(object);
  return merger.finish();
}

}  // namespace tilec::target
