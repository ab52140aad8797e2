// The parts of a summary for people that every kind of measurement has: one line a fact.
#pragma once

#include <string>

#include "cell/account.hpp"
#include "cell/cell.hpp"
#include "cell/document_parts.hpp"

namespace howlate {

[[gnu::format(printf, 2, 3)]] void print(std::string& out, const char* format, ...);
std::string duration(std::int64_t ns);  // for people

// The test, its labels, how long it took and why it ended.
std::string summary_head(const Cell& cell, const Labels& labels, const CellOutcome& outcome);
void write_account_text(std::string& out, const LaneAccount& account);
void write_load_text(std::string& out, const LoadOutcome& load);

}  // namespace howlate
