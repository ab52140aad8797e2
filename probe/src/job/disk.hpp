// A fresh file system on a block device in memory, for the load `disk` in a guest.
#pragma once

#include <string>

#include "core/result.hpp"

namespace howlate {

// Makes an ext4 file system on the device and mounts it on the folder, which is made if it does not exist.
// Everything on the device is lost.
Status make_disk(const std::string& device, const std::string& folder);

}  // namespace howlate
