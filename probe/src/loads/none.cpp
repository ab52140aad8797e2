// none: nothing runs. It stands for "no load" in a study's axis, alone.
#include "loads/load.hpp"

namespace howlate {

extern const Load load_none;
const Load load_none = {
    .name = "none",
    .summary = "nothing: the machine as it is",
    .unit = "",
    .target = {},
    .params = {},
    .spread = Spread::none,
};

}  // namespace howlate
