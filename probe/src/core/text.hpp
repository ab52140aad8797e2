// Text helpers: the nearest name, durations for people, joining, an error as a sentence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace howlate {

// Insertions, deletions, substitutions and swaps of neighbours that make one word of the other.
std::size_t edit_distance(std::string_view left, std::string_view right);

// The name nearest to `word`; empty if none is near enough. '-' and '_' and case count as
// equal.
std::string_view nearest_name(std::string_view word, std::span<const std::string_view> names);

// "there is no timer 'clok'" with the nearest name, or all names, as the remedy: a usage error.
Error unknown_name(std::string_view kind, std::string_view word, std::span<const std::string_view> names);

// For people, three digits and a unit: "850 ns", "12.3 us", "1.00 ms", "33.1 s", "2 h 05 min". Never rounded
// past its unit.
std::string format_duration_ns(std::int64_t duration_ns);

// Spelt as on the command line, exactly, in the greatest unit that divides it: "1ms", "1500us", "2s".
std::string spell_duration_ns(std::int64_t duration_ns);

std::string join(std::span<const std::string_view> parts, std::string_view between);
std::string join(std::span<const std::string> parts, std::string_view between);
// "a|b|c" -> {a, b, c}; empty text -> {}.
std::vector<std::string_view> split(std::string_view text, char at);

// The names of a table of plug-ins as the choices of an option ("hpet|module"), and as its help ("hpet: its summary; module: ...").
template <class Table>
std::string choices_of(const Table& table) {
  std::string names;
  for (const auto* one : table) names += (names.empty() ? "" : "|") + std::string(one->name);
  return names;
}
template <class Table>
std::string summaries_of(const Table& table) {
  std::string text;
  for (const auto* one : table)
    text += (text.empty() ? "" : "; ") + std::string(one->name) + ": " + std::string(one->summary);
  return text;
}

// A name in quotes, as given or as meant: "name".
std::string in_quotes(std::string_view name);
// The remedy for a name that is not known: `did you mean "name"?`; empty where `near` is.
std::string suggestion(std::string_view near);

// "<message>. <Remedy>.": the message goes on after the program's name, the remedy begins a sentence.
std::string sentence(const Error& error);

}  // namespace howlate
