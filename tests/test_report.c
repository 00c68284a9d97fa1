/* Reports: the formatter, the kept line, the hook, and dying. */
#include "unit.h"

#include <signal.h>
#include <unistd.h>

#include "nacre.h"

START_TEST(the_formatter_knows_three_things)
{
	char text[100];
	size_t n = nc_format(text, sizeof text, "%s|%p|%z|%z|%p.", "word",
	                     (void *)(uintptr_t)0x7f12a4c3d040, (size_t)0, SIZE_MAX,
	                     (void *)0);

	ck_assert_str_eq(text, "word|0x7f12a4c3d040|0|18446744073709551615|0x0.");
	ck_assert_uint_eq(n, strlen(text));
}
END_TEST

START_TEST(the_formatter_stops_at_the_end)
{
	char text[9];

	memset(text, 'x', sizeof text);
	ck_assert_uint_eq(nc_format(text, 8, "%s%p", "abcdef", (void *)(uintptr_t)0x1234),
	                  7);
	ck_assert_str_eq(text, "abcdef0");
	ck_assert_int_eq(text[8], 'x');
	ck_assert_uint_eq(nc_format(text, 1, "%z", (size_t)123), 0);
	ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(the_hook_gets_kind_and_line)
{
	unit_expect_reports();
	nc_report(NC_OVERFLOW, "overflow of block %p", (void *)(uintptr_t)0x10);
	ck_assert_str_eq(unit_line, "nacre: overflow of block 0x10");
	unit_assert_reported("overflow");
}
END_TEST

START_TEST(each_kind_has_its_word)
{
	static const char *const words[] = {
		[NC_DOUBLE_FREE] = "double-free",
		[NC_INVALID_POINTER] = "invalid-pointer",
		[NC_USE_AFTER_FREE] = "use-after-free",
		[NC_SIZE_MISMATCH] = "size-mismatch",
		[NC_OVERFLOW] = "overflow",
		[NC_WRITE_AFTER_FREE] = "write-after-free",
	};

	unit_expect_reports();
	for (size_t kind = 0; kind < sizeof words / sizeof *words; kind++) {
		nc_report((enum nc_report_kind)kind, "x");
		unit_assert_reported(words[kind]);
	}
}
END_TEST

static int report_pipe[2];

/* In the process that dies: is everything in its place? */
static void on_abort(int number)
{
	char text[100];
	ssize_t n = read(report_pipe[0], text, sizeof text);

	(void)number;
	if (n != 29 || memcmp(text, "nacre: double free of 0x10 x\n", 29))
		_exit(10);
	if (strcmp(nacre_report, "nacre: double free of 0x10 x") ||
	    strcmp(nacre_report_kind, "double-free"))
		_exit(11);
}

START_TEST(a_report_is_written_and_kept_and_ends_the_process)
{
	ck_assert_int_eq(nacre_report[0], 0);
	ck_assert_int_eq(nacre_report_kind[0], 0);
	ck_assert_int_eq(pipe(report_pipe), 0);
	ck_assert_int_eq(dup2(report_pipe[1], STDERR_FILENO), STDERR_FILENO);
	signal(SIGABRT, on_abort);
	nc_report(NC_DOUBLE_FREE, "double free of %p x", (void *)(uintptr_t)0x10);
}
END_TEST

static void unit_fill(Suite *suite)
{
	TCase *deaths = tcase_create("deaths");

	UNIT_ADD(suite, the_formatter_knows_three_things);
	UNIT_ADD(suite, the_formatter_stops_at_the_end);
	UNIT_ADD(suite, the_hook_gets_kind_and_line);
	UNIT_ADD(suite, each_kind_has_its_word);
	if (unit_forks()) {
		tcase_add_test_raise_signal(
			deaths, a_report_is_written_and_kept_and_ends_the_process,
			SIGABRT);
		suite_add_tcase(suite, deaths);
	}
}
