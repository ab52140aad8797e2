#include "core/params.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "core/json.hpp"
#include "core/quantity.hpp"
#include "core/text.hpp"

namespace howlate {

namespace {

[[noreturn]] void misuse(std::string_view name, const char* what) {
  std::fprintf(stderr, "howlate-probe: parameter '%.*s': %s\n", static_cast<int>(name.size()), name.data(),
               what);
  std::abort();
}

// One of the words that may stand in place of a list or number.
bool is_word(const ParamSpec& spec, std::string_view text) {
  if (spec.type == ParamType::cpus && text == "all") return true;
  if (spec.choices.empty()) return false;
  const auto words = split(spec.choices, '|');
  return std::find(words.begin(), words.end(), text) != words.end();
}

Status check_choice(const ParamSpec& spec, std::string_view text) {
  const auto choices = split(spec.choices, '|');
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return {};
  const std::string_view near = nearest_name(text, choices);
  const std::string all = join(choices, ", ");
  std::string remedy = near.empty() ? "choose one of " + all : suggestion(near) + " Choose one of " + all;
  return usage_error(in_quotes(text) + " is not a choice", std::move(remedy));
}

struct Number {
  std::int64_t integer = 0;
  double real = 0;
};

Result<Number> held_integer(Result<std::int64_t> read) {
  if (!read) return read.error();
  return Number{.integer = *read, .real = 0};
}

Result<Number> held_real(Result<double> read) {
  if (!read) return read.error();
  return Number{.integer = 0, .real = *read};
}

Result<Number> held_status(const Status& status) {
  if (!status) return status.error();
  return Number{};
}

// No time that anybody waits for is longer; sums of a few stay far from 64 bits.
Result<std::int64_t> read_duration_ns(std::string_view text) {
  const auto duration_ns = parse_duration_ns(text);
  if (duration_ns && *duration_ns > duration_ns_max)
    return usage_error(in_quotes(text) + " is longer than ten years", "give at most 87600h");
  return duration_ns;
}

Result<Number> read_value(const ParamSpec& spec, std::string_view text) {
  const bool takes_words = spec.type == ParamType::cpus || spec.type == ParamType::rate;
  if (takes_words && is_word(spec, text)) return Number{};
  switch (spec.type) {
    case ParamType::flag: {
      const bool on = text == "true" || text == "on" || text == "yes" || text == "1";
      const bool off = text == "false" || text == "off" || text == "no" || text == "0";
      if (!on && !off) return usage_error(in_quotes(text) + " is neither on nor off", "write true or false");
      return Number{.integer = on ? 1 : 0, .real = 0};
    }
    case ParamType::count:
      return held_integer(parse_count(text));
    case ParamType::integer:
      return held_integer(parse_integer(text));
    case ParamType::duration:
      return held_integer(read_duration_ns(text));
    case ParamType::bytes:
      return held_integer(parse_bytes(text));
    case ParamType::rate:
      return held_integer(parse_rate(text));
    case ParamType::real:
      return held_real(parse_real(text));
    case ParamType::percent:
      return held_real(parse_percent(text));
    case ParamType::cpus: {
      const auto list = parse_cpu_list(text);
      return list.ok() ? Result<Number>(Number{}) : Result<Number>(list.error());
    }
    case ParamType::choice:
      return held_status(check_choice(spec, text));
    case ParamType::text:
      return Number{};
  }
  return broken("a parameter of an unknown type");
}

bool is_option(std::string_view word) {
  if (word.size() < 2 || word[0] != '-') return false;
  return !(word[1] >= '0' && word[1] <= '9') && word[1] != '.';  // -5 is a number
}

Error unknown_option(std::string_view word, std::span<const std::string_view> names) {
  const std::string_view bare = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  const std::string_view near = nearest_name(bare, names);
  std::string remedy = near.empty() ? "see --help for the options" : suggestion("--" + std::string(near));
  return usage_error("there is no option " + in_quotes(word), std::move(remedy));
}

Error unexpected_word(std::string_view word, std::span<const std::string_view> names) {
  const bool is_name = std::find(names.begin(), names.end(), word) != names.end();
  std::string remedy =
      is_name ? "an option begins with two dashes: --" + std::string(word) : "see --help for the options";
  return usage_error("the word " + in_quotes(word) + " belongs to no option", std::move(remedy));
}

}  // namespace

// Walks the words of a command line; kept apart from Params so that its value table stays plain.
class ParamsReader {
 public:
  ParamsReader(Params& params, const std::vector<std::string>& argv, std::size_t positionals)
      : params_(params), argv_(argv), positionals_(positionals) {
    for (const auto& [name, value] : params_.values_) names_.push_back(name);
  }

  Status run() {
    bool options = true;
    for (; at_ < argv_.size(); ++at_) {
      const std::string& word = argv_[at_];
      if (options && word == "--") {
        options = false;
      } else if (options && is_option(word)) {
        if (const Status status = option(word); !status) return status;
      } else if (params_.positionals_.size() < positionals_) {
        params_.positionals_.push_back(word);
      } else {
        return unexpected_word(word, names_);
      }
    }
    return {};
  }

  static Status store(Params::Value& value, std::string_view text) {
    const Result<Number> held = read_value(*value.spec, text);
    if (!held) {
      Error error = held.error();
      error.message = "--" + std::string(value.spec->name) + ": " + error.message;
      return error;
    }
    value.texts.emplace_back(text);
    value.integer = held->integer;
    value.real = held->real;
    return {};
  }

 private:
  Status option(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string_view whole(word);
    const std::string_view spelt = whole.substr(0, equals);
    const auto found =
        spelt.starts_with("--") ? params_.values_.find(spelt.substr(2)) : params_.values_.end();
    if (found == params_.values_.end()) return unknown_option(spelt, names_);
    Params::Value& value = found->second;
    if (value.given && !value.spec->repeated) {
      return usage_error(std::string(spelt) + " is given twice", "give it once");
    }
    if (!value.given) value.texts.clear();  // the default gives way
    value.given = true;
    if (equals != std::string::npos) return store(value, whole.substr(equals + 1));
    if (value.spec->type == ParamType::flag) return store(value, "true");
    if (at_ + 1 >= argv_.size() || argv_[at_ + 1].starts_with("--")) {
      return usage_error(std::string(spelt) + " needs a value",
                         "write " + std::string(spelt) + "=VALUE: " + std::string(value.spec->help));
    }
    return store(value, argv_[++at_]);
  }

  Params& params_;
  const std::vector<std::string>& argv_;
  std::size_t positionals_;
  std::size_t at_ = 0;
  std::vector<std::string_view> names_;
};

Result<Params> Params::parse(const std::vector<std::span<const ParamSpec>>& tables,
                             const std::vector<std::string>& argv, std::size_t positionals) {
  Params params;
  for (const auto& table : tables) {
    for (const ParamSpec& spec : table) {
      const auto [at, is_new] = params.values_.try_emplace(std::string(spec.name));
      if (!is_new) return broken("the option --" + std::string(spec.name) + " is declared twice");
      at->second.spec = &spec;
      if (spec.fallback.empty()) continue;
      if (const Status status = ParamsReader::store(at->second, spec.fallback); !status) {
        return broken("the default of an option is wrong: " + status.error().message);
      }
    }
  }
  if (const Status status = ParamsReader(params, argv, positionals).run(); !status) return status.error();
  return params;
}

const Params::Value& Params::at(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) misuse(name, "asked for, but no table declares it");
  return found->second;
}

bool Params::declares(std::string_view name) const {
  return values_.find(name) != values_.end();
}
bool Params::is_set(std::string_view name) const {
  return !at(name).texts.empty();
}
bool Params::given(std::string_view name) const {
  return at(name).given;
}

void Params::put(std::string_view name, std::string text) {
  static_cast<void>(at(name));  // a name that no table declares aborts
  values_.find(name)->second.texts.assign(1, std::move(text));
}

bool Params::flag(std::string_view name) const {
  const Value& value = at(name);
  if (value.spec->type != ParamType::flag) misuse(name, "asked for as a flag, declared as something else");
  return value.integer != 0;
}

std::int64_t Params::integer(std::string_view name) const {
  const Value& value = at(name);
  switch (value.spec->type) {
    case ParamType::count:
    case ParamType::integer:
    case ParamType::duration:
    case ParamType::bytes:
    case ParamType::rate:
      return value.integer;
    default:
      misuse(name, "asked for as an integer, declared as something else");
  }
}

double Params::number(std::string_view name) const {
  return is_set(name) ? static_cast<double>(integer(name)) : 0;
}

double Params::real(std::string_view name) const {
  const Value& value = at(name);
  if (value.spec->type != ParamType::real && value.spec->type != ParamType::percent) {
    misuse(name, "asked for as a real, declared as something else");
  }
  return value.real;
}

const std::string& Params::text(std::string_view name) const {
  static const std::string none;
  const Value& value = at(name);
  return value.texts.empty() ? none : value.texts.back();
}

const std::vector<std::string>& Params::texts(std::string_view name) const {
  return at(name).texts;
}

namespace {

std::string canonical_text(ParamType type, std::int64_t integer, const std::string& text) {
  if (type == ParamType::duration) return spell_duration_ns(integer);
  const bool is_number = type == ParamType::count || type == ParamType::integer;
  return is_number ? std::to_string(integer) : text;
}

}  // namespace

void Params::write(JsonWriter& json, const std::string& name, const Value& value, bool canonical) {
  if (value.spec->type == ParamType::flag) {
    json.member(name, value.integer != 0);
  } else if (value.spec->repeated) {
    json.key(name).begin_array();
    for (const std::string& text : value.texts) json.value(text);
    json.end_array();
  } else if (!value.texts.empty()) {
    const std::string& text = value.texts.back();
    json.member(name, canonical ? canonical_text(value.spec->type, value.integer, text) : text);
  }
}

std::string Params::to_json() const {
  JsonWriter json;
  json.begin_object();
  for (const auto& [name, value] : values_) write(json, name, value, false);
  return json.end_object().take();
}

std::vector<std::string_view> Params::given_names() const {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : values_)
    if (value.given) names.push_back(name);
  return names;
}

std::string Params::given_json() const {
  JsonWriter json;
  json.begin_object();
  for (const auto& [name, value] : values_)
    if (value.given) write(json, name, value, true);
  return json.end_object().take();
}

Status check_period(const Params& params, std::int64_t least_ns, std::int64_t most_ns) {
  const std::int64_t period_ns = params.integer("period");
  if (period_ns >= least_ns && period_ns <= most_ns) return {};
  return usage_error(
      "a period of " + params.text("period") + " is not possible",
      "Choose --period from " + spell_duration_ns(least_ns) + " to " + spell_duration_ns(most_ns));
}

}  // namespace howlate
