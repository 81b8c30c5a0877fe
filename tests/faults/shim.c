/* Interposes fsync and fdatasync of a process (LD_PRELOAD): traces, fails, delays or blocks both.
 *
 *   FAULT_TRACE   a file: each call that succeeded adds a line "<start ns> <end ns> <path>", by the monotonic clock;
 *                 one that is held has a line before that, when it begins to wait, with 0 for its end
 *   FAULT_ORDERS  a file, read again at each call, so that a test may write it at any time; one order a line:
 *                   fail <n> <suffix>     the n-th call from now on, on a path with this ending, fails with EIO
 *                   delay <ms> <suffix>   each call on a path with this ending takes that much longer
 *                   hold <suffix>         each call on a path with this ending waits until the file is replaced
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static int matched;

static long long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void path_of(int descriptor, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t size = readlink(link, path, PATH_MAX - 1);
    path[size < 0 ? 0 : size] = 0;
}

static int ends_with(const char *path, const char *suffix) {
    size_t size = strlen(path), end = strlen(suffix);
    return size >= end && strcmp(path + size - end, suffix) == 0;
}

static int is_the_nth(int n) {
    pthread_mutex_lock(&counting);
    int due = ++matched == n;
    pthread_mutex_unlock(&counting);
    return due;
}

static void delay(long ms) {
    struct timespec left = {ms / 1000, ms % 1000 * 1000000L};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

static void trace(long long start, long long end, const char *path) {
    const char *name = getenv("FAULT_TRACE");
    char line[PATH_MAX + 64];
    if (name == NULL) return;
    int descriptor = open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    int size = snprintf(line, sizeof line, "%lld %lld %s\n", start, end, path);
    if (descriptor >= 0) {
        if (write(descriptor, line, size) != size) abort();
        close(descriptor);
    }
}

/* The order file stays open meanwhile, so that no other file can have its inode number. */
static void hold(int orders_read, const char *orders) {
    struct stat read, now;
    if (fstat(orders_read, &read) != 0) abort();
    while (stat(orders, &now) == 0 && now.st_ino == read.st_ino) delay(1);
}

/* Returns whether the call must fail. */
static int obey_orders(const char *path) {
    const char *orders = getenv("FAULT_ORDERS");
    FILE *file = orders ? fopen(orders, "re") : NULL;
    char verb[16], suffix[256];
    long number = 0;
    int fails = 0;
    if (file == NULL) return 0;
    while (fscanf(file, "%15s", verb) == 1) {
        int holds = strcmp(verb, "hold") == 0;
        if (!holds && fscanf(file, "%ld", &number) != 1) abort();
        if (fscanf(file, "%255s", suffix) != 1) abort();
        if (!ends_with(path, suffix)) continue;
        if (holds) {
            trace(now_ns(), 0, path);
            hold(fileno(file), orders);
        }
        if (strcmp(verb, "delay") == 0) delay(number);
        if (strcmp(verb, "fail") == 0 && is_the_nth((int)number)) fails = 1;
    }
    fclose(file);
    return fails;
}

static int through(const char *symbol, int descriptor) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, symbol);
    char path[PATH_MAX];
    long long start = now_ns();
    path_of(descriptor, path);
    if (obey_orders(path)) {
        errno = EIO;
        return -1;
    }
    int result = real(descriptor);
    if (result == 0) trace(start, now_ns(), path);
    return result;
}

int fsync(int descriptor) { return through("fsync", descriptor); }

int fdatasync(int descriptor) { return through("fdatasync", descriptor); }
