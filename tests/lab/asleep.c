// Loaded into QEMU (LD_PRELOAD): a QEMU that runs a cell does not end, but sleeps.
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

__attribute__((destructor)) static void sleep_for_good(void) {
  char words[1 << 16];
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t length = read(file, words, sizeof words);
  close(file);
  if (length > 0 && memmem(words, length, "-incoming", 9))
    for (;;) pause();
}
