// SPDX-License-Identifier: GPL-2.0
/*
 * The smallest module that shows that it runs: /sys/module/howlate_test/parameters/answer holds twice what it was given
 * as `half`.
 */
#include <linux/module.h>

static int half = 21;
module_param(half, int, 0444);
MODULE_PARM_DESC(half, "half of the answer");

static int answer;
module_param(answer, int, 0444);
MODULE_PARM_DESC(answer, "set by the module");

static int __init howlate_test_init(void)
{
	answer = 2 * half;
	return 0;
}

static void __exit howlate_test_exit(void)
{
}

module_init(howlate_test_init);
module_exit(howlate_test_exit);
MODULE_DESCRIPTION("howlate's test of modules that are built outside of the tree");
MODULE_LICENSE("GPL");
