/* Shifts the wall clock of Python code and of gRPC in a process (LD_PRELOAD): time.time(), datetime.now() and the like.
 *
 *   CLOCK_SHIFT  a file with the shift in seconds, as text, read at each call, so that a test may change it at any time
 *
 * Only calls of the interpreter and of gRPC are shifted: gRPC's deadlines are compared with time.time(). A library that
 * waits until a wall-clock time hands that time to the kernel, whose clock is not shifted: it would wait for years. The
 * monotonic clock is not shifted, as a jump does not shift it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int is_shifted(void *caller) {
    Dl_info info;
    if (dladdr(caller, &info) == 0 || info.dli_fname == NULL) return 0;
    const char *name = strrchr(info.dli_fname, '/');
    name = name ? name + 1 : info.dli_fname;
    return strncmp(name, "python", 6) == 0 || strncmp(name, "libpython", 9) == 0 ||
           strncmp(name, "cygrpc", 6) == 0;
}

static long long shift_seconds(void) {
    const char *name = getenv("CLOCK_SHIFT");
    FILE *file = name ? fopen(name, "re") : NULL;
    long long shift = 0;
    if (file == NULL) return 0;
    if (fscanf(file, "%lld", &shift) != 1) shift = 0;
    fclose(file);
    return shift;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (real == NULL) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, now);
    if (result == 0 && clock == CLOCK_REALTIME && is_shifted(__builtin_return_address(0)))
        now->tv_sec += shift_seconds();
    return result;
}
