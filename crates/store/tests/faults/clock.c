/* Sets the wall clock of one process forward or back by as many seconds as ATELIER_TEST_CLOCK_SHIFT says, or as a file says that
 * ATELIER_TEST_CLOCK_FILE names, which is read anew each time; the clocks that only count how long things take are left alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long shift(void) {
    const char *name = getenv("ATELIER_TEST_CLOCK_FILE");
    const char *fixed = getenv("ATELIER_TEST_CLOCK_SHIFT");
    char text[32] = {0};
    if (!name) return fixed ? atol(fixed) : 0;
    int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t got = read(file, text, sizeof text - 1);
    close(file);
    return got > 0 ? atol(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int done = real(clock, time);
    if (done == 0 && clock == CLOCK_REALTIME) time->tv_sec += shift();
    return done;
}
