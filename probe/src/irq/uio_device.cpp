#include "irq/uio_device.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>

#include "core/fence.hpp"
#include "irq/no_module.hpp"

namespace howlate {

namespace {

constexpr std::size_t shared_bytes =
    HOWLATE_UIO_RECORDS_AT + HOWLATE_UIO_RECORDS * sizeof(howlate_uio_record);

const howlate_uio_record* records_of(const howlate_uio_page* page) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(page);
  return reinterpret_cast<const howlate_uio_record*>(bytes + HOWLATE_UIO_RECORDS_AT);
}

}  // namespace

Result<std::string> UioDevice::find(std::string_view name, const Root& root) {
  bool any = false;
  std::error_code error;
  for (std::filesystem::directory_iterator at(root.at("/sys/class/uio"), error), end; !error && at != end;
       at.increment(error)) {
    const std::string found = read_text(at->path().string() + "/name").value_or("");
    if (found == name) return root.at("/dev/" + at->path().filename().string());
    any = any || found == HOWLATE_UIO_HRTIMER;
  }
  if (!any) return no_module(HOWLATE_UIO_MODULE, root);
  return not_possible("this machine has no PCI device edu (1234:11e8), which is one of QEMU's",
                      "Start the virtual machine with '-device edu', or use --source hrtimer");
}

Result<std::unique_ptr<UioDevice>> UioDevice::open(std::string_view name, const Root& root) {
  const auto path = find(name, root);
  if (!path) return path.error();
  auto file = open_irq_device(*path, O_RDWR);
  if (!file) return file.error();
  void* const page = ::mmap(nullptr, shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->get(), 0);
  if (page == MAP_FAILED) return broken("cannot map " + *path + ": " + errno_text(errno));
  return std::unique_ptr<UioDevice>(new UioDevice(std::move(*file), page, shared_bytes));
}

UioDevice::~UioDevice() {
  ::munmap(page_, bytes_);
}

Status UioDevice::control(std::int32_t on) const {
  if (::write(file_.get(), &on, sizeof on) == sizeof on) return {};
  return not_started(HOWLATE_UIO_MODULE, errno);
}

Status UioDevice::start(std::int64_t period_ns) {
  page_->version = HOWLATE_ABI_VERSION;
  page_->period_ns = period_ns;
  return control(1);
}

bool UioDevice::wait(UioWait how) {
  if (how == UioWait::poll) {
    pollfd waited{file_.get(), POLLIN, 0};
    return ::poll(&waited, 1, -1) == 1;
  }
  std::int32_t count = 0;
  return ::read(file_.get(), &count, sizeof count) == sizeof count;
}

void UioDevice::took() const {
  std::int32_t count = 0;
  static_cast<void>(::read(file_.get(), &count, sizeof count));  // there is something: it does not wait
}

std::uint32_t UioDevice::written() const {
  return std::atomic_ref(page_->written).load(std::memory_order_acquire);
}

bool UioDevice::read(std::uint32_t number, howlate_uio_record& record) const {
  record = records_of(page_)[number % HOWLATE_UIO_RECORDS];
  read_in_order();
  return written() - number < HOWLATE_UIO_RECORDS;  // at as many the handler may be writing into it
}

UioAccount UioDevice::stop() {
  if (!control(0)) return {};
  return {static_cast<std::int64_t>(page_->due), static_cast<std::int64_t>(written())};
}

}  // namespace howlate
