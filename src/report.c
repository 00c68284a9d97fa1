#include <stdarg.h>

#include "report.h"

#include <nacre.h>

NC_EXPORT char nacre_report[256];
NC_EXPORT char nacre_report_kind[32];

#ifndef NC_PUBLIC_NAMES
void (*nc_report_hook)(const char *kind, const char *line);
#endif

static uint32_t x_reporting;

static const char *const kind_words[] = {
	[NC_DOUBLE_FREE] = "double-free",
	[NC_INVALID_POINTER] = "invalid-pointer",
	[NC_USE_AFTER_FREE] = "use-after-free",
	[NC_SIZE_MISMATCH] = "size-mismatch",
	[NC_OVERFLOW] = "overflow",
	[NC_WRITE_AFTER_FREE] = "write-after-free",
	[NC_INTERNAL] = "internal",
};

/* Digits of v in the base, most significant first; returns their count. */
static size_t digits(char out[20], uintptr_t v, unsigned base)
{
	char rev[20];
	size_t n = 0;

	do {
		rev[n++] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	for (size_t i = 0; i < n; i++)
		out[i] = rev[n - 1 - i];
	return n;
}

static size_t append(char *buf, size_t size, size_t at, const char *s, size_t n)
{
	for (size_t i = 0; i < n && at + 1 < size; i++)
		buf[at++] = s[i];
	return at;
}

static size_t format_list(char *buf, size_t size, const char *format, va_list list)
{
	char num[20];
	size_t at = 0;

	for (const char *f = format; *f; f++) {
		if (*f != '%') {
			at = append(buf, size, at, f, 1);
			continue;
		}
		f++;
		if (*f == 's') {
			const char *s = va_arg(list, const char *);
			size_t n = 0;
			while (s[n])
				n++;
			at = append(buf, size, at, s, n);
		} else if (*f == 'p') {
			at = append(buf, size, at, "0x", 2);
			at = append(buf, size, at, num,
			            digits(num, va_arg(list, uintptr_t), 16));
		} else {
			at = append(buf, size, at, num,
			            digits(num, va_arg(list, size_t), 10));
		}
	}
	buf[at] = 0;
	return at;
}

size_t nc_format(char *buf, size_t size, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	size_t n = format_list(buf, size, format, list);
	va_end(list);
	return n;
}

void nc_report(enum nc_report_kind kind, const char *format, ...)
{
	char line[sizeof nacre_report + 1];
	va_list list;

	size_t at = nc_format(line, sizeof line - 1, "nacre: ");
	va_start(list, format);
	at += format_list(line + at, sizeof line - 1 - at, format, list);
	va_end(list);
	if (nc_report_hook) {
		nc_report_hook(kind_words[kind], line);
		return;
	}
	/* A second report (of another thread, or of a handler of the first)
	 * would only hide the first. */
	if (__atomic_exchange_n(&x_reporting, 1, __ATOMIC_ACQ_REL) == 0) {
		nc_format(nacre_report, sizeof nacre_report, "%s", line);
		nc_format(nacre_report_kind, sizeof nacre_report_kind, "%s",
		          kind_words[kind]);
		line[at] = '\n';
		nc_port_write(nc_port_report_fd(), line, at + 1);
	}
	nc_port_abort();
}

#ifndef NDEBUG
void nc_assert_fail(const char *what)
{
	nc_report(NC_INTERNAL, "internal error: assertion failed: %s", what);
	nc_port_abort();
}
#endif
