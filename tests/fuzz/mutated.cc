#include "tests/fuzz/mutated.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <span>
#include <vector>

#include "common/cli/after_list.h"
#include "common/cli/flags.h"
#include "common/spec/benchmark.h"

namespace kvmatrix::fuzz {
namespace {

constexpr const char* kOdd[] = {"0",
                                "1",
                                "2",
                                "-1",
                                "10",
                                "100",
                                "1000",
                                "nan",
                                "inf",
                                "-inf",
                                "-0",
                                "1e-300",
                                "4e-324",
                                "1e300",
                                "1000000000",
                                "4294967296",
                                "9007199254740993",
                                "10000000000000000",
                                "18446744073709551615",
                                "18446744073709551616",
                                "0x7f",
                                "",
                                "true",
                                "false"};

template <typename Range>
const auto& OneOf(const Range& range, Random& random) {
  return *(std::begin(range) +
           static_cast<std::ptrdiff_t>(random.Uniform(std::size(range))));
}

std::string Text(double number, Random& random) {
  char text[40];
  // As an integer, where the flag is one.
  std::snprintf(text, sizeof(text), random.Uniform(2) ? "%.0f" : "%.17g",
                number);
  return text;
}

// Returns a number in the range of the flag, more often than not.
std::string NumberOf(const Flag& flag, Random& random) {
  const FlagRange& range = flag.range;
  const bool open = range.max == FlagRange().max;
  const double max = open ? 1000 : range.max;
  switch (random.Uniform(6)) {
    case 0:
      return Text(range.min, random);
    case 1:
      return Text(max, random);
    case 2:
      return OneOf(kOdd, random);
    case 3:
      return Text(range.min + (max - range.min) * random.Unit(), random);
    default:
      return Text(range.min + static_cast<double>(random.Uniform(100)), random);
  }
}

std::string BenchmarkWord(Random& random) {
  std::string word(OneOf(AllBenchmarks(), random).name);
  switch (random.Uniform(4)) {
    case 0:
      return word + ":" + std::to_string(random.Uniform(100));
    case 1:
      return word + ":" + std::to_string(random.Uniform(50)) + "+" +
             std::to_string(random.Uniform(50));
    default:
      return word;
  }
}

// Returns "--flag=value" with one of the flags of the table.
std::string FlagWord(Random& random) {
  const Flag& flag = OneOf(AllFlags(), random);
  const std::string word = "--" + std::string(flag.name) + "=";
  const std::string_view type = TypeName(flag);
  if (flag.choices != nullptr) {
    return word + std::string(OneOf(flag.choices(), random));
  }
  if (type == "bool") return word + (random.Uniform(2) ? "true" : "false");
  if (type == "string") return word + BenchmarkWord(random);
  return word + NumberOf(flag, random);
}

// Replaces what follows the '=' of a word, or appends to the list there.
void ChangeValue(std::string& word, Random& random) {
  const size_t equals = word.find('=');
  if (equals == word.npos) {
    word += "=1";
  } else if (random.Uniform(2) == 0 && word.find(',') != word.npos) {
    word += "," + BenchmarkWord(random);
  } else {
    word.resize(equals + 1);
    word += random.Uniform(3) == 0 ? BenchmarkWord(random)
                                   : std::string(OneOf(kOdd, random));
  }
}

// Replaces a number of the word by one next to it, or by its double or half.
void ChangeNumber(std::string& word, Random& random) {
  constexpr char kDigits[] = "0123456789";
  std::vector<size_t> starts;
  for (size_t at = word.find_first_of(kDigits); at != word.npos;) {
    starts.push_back(at);
    at = word.find_first_of(kDigits, word.find_first_not_of(kDigits, at));
  }
  if (starts.empty()) return;
  const size_t start = OneOf(starts, random);
  const size_t size = std::min(word.find_first_not_of(kDigits, start) - start,
                               word.size() - start);
  uint64_t number = 0;
  std::from_chars(word.data() + start, word.data() + start + size, number);
  const uint64_t changed[] = {number + 1, number - 1, number * 2, number / 2};
  word.replace(start, size, std::to_string(OneOf(changed, random)));
}

void ChangeBytes(std::string& text, Random& random) {
  const size_t at = random.Uniform(text.size() + 1);
  switch (random.Uniform(3)) {
    case 0:
      text.insert(at, 1, static_cast<char>(random.Next()));
      return;
    case 1:
      text.erase(at, 1 + random.Uniform(8));
      return;
    default:
      if (at < text.size()) text[at] = static_cast<char>(random.Next());
  }
}

void ChangeWords(std::vector<std::string>& words, Random& random) {
  if (words.empty()) words.emplace_back("--benchmarks=fillseq,readrandom");
  const auto at =
      words.begin() + static_cast<std::ptrdiff_t>(random.Uniform(words.size()));
  switch (random.Uniform(10)) {
    case 0:
      words.erase(at);
      return;
    case 1:
      words.insert(at, std::string(*at));
      return;
    case 2:
      std::swap(*at, words.front());
      return;
    case 3:
    case 4:
      ChangeValue(*at, random);
      return;
    case 5:
    case 6:
      ChangeNumber(*at, random);
      return;
    default:
      words.insert(at, FlagWord(random));
  }
}

}  // namespace

std::string Mutated(std::string_view input, Random& random) {
  std::string text(input);
  if (random.Uniform(4) == 0) {
    ChangeBytes(text, random);
    return text;
  }
  std::vector<std::string> words;
  for (const std::string_view word : Split(input, '\n'))
    words.emplace_back(word);
  ChangeWords(words, random);
  text.clear();
  for (const std::string& word : words) text += word + "\n";
  return text;
}

}  // namespace kvmatrix::fuzz
