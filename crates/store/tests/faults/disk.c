/* Stands before the disk: a sync of a database does what the file named by ATELIER_DISK says, and each line of that
 * file is done once:
 *
 *   slow MILLISECONDS   the sync takes so long, then happens
 *   fail                the sync fails
 *   fail always         this one and every later one fails
 *   full                while the file says so, the disk takes no more of a database
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int is_database(int fd) {
    char link[64], name[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, name, sizeof name - 1);
    if (length < 0) return 0;
    name[length] = 0;
    return strstr(name, ".db") != NULL;
}

/* 1 when the sync is to fail. */
static int trouble(int fd) {
    const char *plan = getenv("ATELIER_DISK");
    if (!plan || !is_database(fd)) return 0;
    FILE *file = fopen(plan, "r");
    if (!file) return 0;
    char line[64] = "";
    if (!fgets(line, sizeof line, file)) line[0] = 0;
    fclose(file);
    if (strncmp(line, "fail always", 11) == 0) return 1;
    if (strncmp(line, "full", 4) == 0) return 0;
    unlink(plan);
    if (strncmp(line, "fail", 4) == 0) return 1;
    if (strncmp(line, "slow ", 5) == 0) {
        long milliseconds = atol(line + 5);
        struct timespec time = {milliseconds / 1000, (milliseconds % 1000) * 1000000L};
        nanosleep(&time, NULL);
    }
    return 0;
}

static int sync_by(const char *name, int fd) {
    if (trouble(fd)) {
        errno = EIO;
        return -1;
    }
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    return real(fd);
}

int fsync(int fd) { return sync_by("fsync", fd); }
int fdatasync(int fd) { return sync_by("fdatasync", fd); }

static int is_full(int fd) {
    const char *plan = getenv("ATELIER_DISK");
    if (!plan || access(plan, R_OK) != 0 || !is_database(fd)) return 0;
    FILE *file = fopen(plan, "r");
    if (!file) return 0;
    char line[64] = "";
    if (!fgets(line, sizeof line, file)) line[0] = 0;
    fclose(file);
    return strncmp(line, "full", 4) == 0;
}

static ssize_t write_by(const char *name, int fd, const void *bytes, size_t length, off_t at) {
    if (is_full(fd)) {
        errno = ENOSPC;
        return -1;
    }
    ssize_t (*real)(int, const void *, size_t, off_t) =
        (ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, name);
    return real(fd, bytes, length, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) { return write_by("pwrite", fd, bytes, length, at); }
ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t at) { return write_by("pwrite64", fd, bytes, length, at); }
