/* Records what a process does to the files of one directory (LD_PRELOAD), for a model of power loss.
 *
 *   RECORD_FOLDER  the directory; other files are not recorded
 *   RECORD_LOG     the file of the events, in their order:
 *                    kind (1 byte), time in ns by the monotonic clock (8), offset (8), bytes of the path (4), bytes of
 *                    the content (4), path, content
 *
 * Kinds: c create, w write, t truncate to the offset, s sync (of a file or a directory), u unlink, r rename (to the
 * path in the content). A file whose name ends with ".mark" is written through a shared mapping: it is compared at each
 * event, and a change of it is recorded as a write.
 *
 * One lock is held during each operation and its recording, so that the order of events is that of their effects. The
 * time is that at which the effect begins, and for a sync that at which it is complete.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MARK_BYTES 4096
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_descriptor = -1;
static struct {
    void *address;
    char path[PATH_MAX];
    unsigned char seen[MARK_BYTES];
} mark;

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static int is_recorded(const char *path) {
    const char *folder = getenv("RECORD_FOLDER");
    size_t size = folder ? strlen(folder) : 0;
    return size && getenv("RECORD_LOG") && strncmp(path, folder, size) == 0 && (path[size] == '/' || path[size] == 0);
}

static int path_of(int descriptor, char *path) {
    char link[64];
    if (getenv("RECORD_FOLDER") == NULL) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t size = readlink(link, path, PATH_MAX - 1);
    path[size < 0 ? 0 : size] = 0;
    return size > 0 && is_recorded(path);
}

static void append(const void *data, size_t size) {
    if (REAL(write)(log_descriptor, data, size) != (ssize_t)size) abort();
}

static void log_event(char kind, uint64_t time, const char *path, uint64_t offset, const void *data, uint32_t size) {
    char header[25];
    uint32_t path_size = (uint32_t)strlen(path);
    if (log_descriptor < 0) {
        log_descriptor = REAL(open)(getenv("RECORD_LOG"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
        if (log_descriptor < 0) abort();
    }
    header[0] = kind;
    memcpy(header + 1, &time, 8);
    memcpy(header + 9, &offset, 8);
    memcpy(header + 17, &path_size, 4);
    memcpy(header + 21, &size, 4);
    append(header, sizeof header);
    append(path, path_size);
    if (size) append(data, size);
}

static void log_mark(void) {
    if (mark.address == NULL || memcmp(mark.address, mark.seen, MARK_BYTES) == 0) return;
    memcpy(mark.seen, mark.address, MARK_BYTES);
    log_event('w', now_ns(), mark.path, 0, mark.seen, MARK_BYTES);
}

static void record(char kind, uint64_t time, const char *path, uint64_t offset, const void *data, size_t size) {
    int before = errno;
    log_event(kind, time, path, offset, data, (uint32_t)size);
    errno = before;
}

static uint64_t begin(void) {
    pthread_mutex_lock(&lock);
    log_mark();
    return now_ns();
}

static void end(void) { pthread_mutex_unlock(&lock); }

static ssize_t write_at(int descriptor, const void *data, size_t size, off_t offset, int positioned) {
    char path[PATH_MAX];
    if (!path_of(descriptor, path))
        return positioned ? REAL(pwrite)(descriptor, data, size, offset) : REAL(write)(descriptor, data, size);
    uint64_t time = begin();
    if (!positioned) {
        int appends = fcntl(descriptor, F_GETFL) & O_APPEND;
        offset = lseek(descriptor, 0, appends ? SEEK_END : SEEK_CUR);
    }
    ssize_t done = positioned ? REAL(pwrite)(descriptor, data, size, offset) : REAL(write)(descriptor, data, size);
    if (done > 0) record('w', time, path, (uint64_t)offset, data, (size_t)done);
    end();
    return done;
}

ssize_t write(int descriptor, const void *data, size_t size) { return write_at(descriptor, data, size, 0, 0); }

ssize_t pwrite(int descriptor, const void *data, size_t size, off_t offset) {
    return write_at(descriptor, data, size, offset, 1);
}

ssize_t pwrite64(int descriptor, const void *data, size_t size, off64_t offset) {
    return write_at(descriptor, data, size, offset, 1);
}

static int truncate_to(int descriptor, off_t size) {
    char path[PATH_MAX];
    if (!path_of(descriptor, path)) return REAL(ftruncate)(descriptor, size);
    uint64_t time = begin();
    int result = REAL(ftruncate)(descriptor, size);
    if (result == 0) record('t', time, path, (uint64_t)size, NULL, 0);
    end();
    return result;
}

int ftruncate(int descriptor, off_t size) { return truncate_to(descriptor, size); }

int ftruncate64(int descriptor, off64_t size) { return truncate_to(descriptor, size); }

static int sync_with(int (*real)(int), int descriptor) {
    char path[PATH_MAX];
    if (!path_of(descriptor, path)) return real(descriptor);
    begin();
    int result = real(descriptor);
    if (result == 0) record('s', now_ns(), path, 0, NULL, 0);
    end();
    return result;
}

int fsync(int descriptor) { return sync_with(REAL(fsync), descriptor); }

int fdatasync(int descriptor) { return sync_with(REAL(fdatasync), descriptor); }

static int open_recorded(const char *path, int flags, mode_t mode) {
    struct stat before;
    if (!(flags & (O_CREAT | O_TRUNC)) || !is_recorded(path)) return REAL(open)(path, flags, mode);
    uint64_t time = begin();
    int existed = stat(path, &before) == 0;
    int descriptor = REAL(open)(path, flags, mode);
    if (descriptor >= 0 && !existed) record('c', time, path, 0, NULL, 0);
    if (descriptor >= 0 && existed && flags & O_TRUNC) record('t', time, path, 0, NULL, 0);
    end();
    return descriptor;
}

static mode_t mode_of(int flags, va_list rest) { return flags & O_CREAT ? (mode_t)va_arg(rest, int) : 0; }

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = mode_of(flags, rest);
    va_end(rest);
    return open_recorded(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = mode_of(flags, rest);
    va_end(rest);
    return open_recorded(path, flags, mode);
}

int unlink(const char *path) {
    if (!is_recorded(path)) return REAL(unlink)(path);
    uint64_t time = begin();
    int result = REAL(unlink)(path);
    if (result == 0) record('u', time, path, 0, NULL, 0);
    end();
    return result;
}

int rename(const char *from, const char *to) {
    if (!is_recorded(from)) return REAL(rename)(from, to);
    uint64_t time = begin();
    int result = REAL(rename)(from, to);
    if (result == 0) record('r', time, from, 0, to, strlen(to));
    end();
    return result;
}

static void *map(void *address, size_t size, int protection, int flags, int descriptor, off_t offset) {
    void *mapped = REAL(mmap)(address, size, protection, flags, descriptor, offset);
    char path[PATH_MAX];
    if (descriptor < 0 || !(flags & MAP_SHARED) || !(protection & PROT_WRITE) || mapped == MAP_FAILED) return mapped;
    if (!path_of(descriptor, path) || strlen(path) < 5 || strcmp(path + strlen(path) - 5, ".mark") != 0) return mapped;
    pthread_mutex_lock(&lock);
    strcpy(mark.path, path);
    memcpy(mark.seen, mapped, MARK_BYTES);
    mark.address = mapped;
    end();
    return mapped;
}

void *mmap(void *address, size_t size, int protection, int flags, int descriptor, off_t offset) {
    return map(address, size, protection, flags, descriptor, offset);
}

void *mmap64(void *address, size_t size, int protection, int flags, int descriptor, off64_t offset) {
    return map(address, size, protection, flags, descriptor, offset);
}

int munmap(void *address, size_t size) {
    if (address != NULL && address == mark.address) {
        begin();
        mark.address = NULL;
        end();
    }
    return REAL(munmap)(address, size);
}
