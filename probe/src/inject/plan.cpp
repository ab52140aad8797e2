#include "inject/plan.hpp"

#include <algorithm>

#include "core/params.hpp"
#include "core/text.hpp"

namespace howlate {

namespace {

constexpr std::uint64_t one_in = 8;  // is aimed at no release

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebULL;
    return mixed ^ (mixed >> 31U);
  }
  // From `least` to `most`, both included. Their distance is far below 2^32, so the remainder favours none.
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(next() % (static_cast<std::uint64_t>(most - least) + 1));
  }

 private:
  std::uint64_t state_;
};

}  // namespace

Result<InjectSizes> parse_inject_sizes(std::string_view text) {
  const auto words = split(text, '-');
  const Error wrong =
      usage_error("--inject-size takes a length or a range of lengths, not " + in_quotes(text),
                  "Write it as 100us or 20us-500us");
  if (words.empty() || words.size() > 2) return wrong;
  const auto least = parse_duration_ns(words.front());
  const auto most = parse_duration_ns(words.back());
  if (!least || !most || *least > *most) return wrong;
  if (*least < inject_size_ns_min || *most > inject_size_ns_max)
    return usage_error("--inject-size must be between 1us and 10ms");
  return InjectSizes{*least, *most};
}

std::vector<PlannedDelay> plan_delays(const InjectSpec& spec, const ScheduleSpec& schedule,
                                      std::int64_t releases) {
  std::vector<PlannedDelay> planned;
  Draw draw(spec.seed);
  Schedule at(schedule);
  const std::int64_t clear_ns = inject_clear_ns + spec.round_ns;
  for (std::int64_t before_ns = at.offset_ns(); at.index() + 1 < releases;) {
    at.advance();
    const std::int64_t gap_ns = at.offset_ns() - before_ns;
    const std::int64_t index = at.index();
    if (index > 0 && index % spec.every == 0 && gap_ns > 2 * clear_ns) {
      PlannedDelay one{at.index(), at.offset_ns(), 0, draw.between(spec.sizes.least_ns, spec.sizes.most_ns),
                       true};
      const std::int64_t room_ns = gap_ns - one.size_ns - 2 * clear_ns;
      one.aimed = draw.next() % one_in != 0 || room_ns < 0;
      one.begin_ns = one.aimed ? at.offset_ns() - draw.between(1, std::min(one.size_ns, gap_ns - clear_ns))
                               : before_ns + clear_ns + draw.between(0, room_ns);
      planned.push_back(one);
    }
    before_ns = at.offset_ns();
  }
  return planned;
}

}  // namespace howlate
