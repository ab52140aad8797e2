// A fresh file system on a block device that is in memory, so that the load `disk` has one in a guest.
#pragma once

#include <string>

#include "core/result.hpp"

namespace howlate {

// Makes an ext4 file system on the device and mounts it on the folder, which is made where it is not there.
// Everything on the device is lost.
Status make_disk(const std::string& device, const std::string& folder);

}  // namespace howlate
