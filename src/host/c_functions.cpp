#include "host/c_functions.h"

#include <algorithm>
#include <iterator>

namespace tilec::host {

namespace {

// Sorted. Functions of mathematics stand here without their kinds for `float` and `long double`.
constexpr std::string_view kFunctions[] = {
    "_exit", "abort", "abs", "accept", "access", "acos", "acosh", "aio_read", "aio_write", "alarm", "aligned_alloc", "alphasort",
    "asctime", "asin", "asinh", "asprintf", "at_quick_exit", "atan", "atan2", "atanh", "atexit", "atof", "atoi", "atol", "atoll",
    "backtrace", "bcmp", "bcopy", "bind", "brk", "bsearch", "btowc", "bzero", "c16rtomb", "c32rtomb", "cabs", "cacos", "cacosh",
    "call_once", "calloc", "carg", "casin", "casinh", "catan", "catanh", "cbrt", "ccos", "ccosh", "ceil", "cexp", "chdir", "chmod",
    "chown", "chroot", "cimag", "clearerr", "clock", "clock_getres", "clock_gettime", "clock_nanosleep", "clock_settime", "clog", "close",
    "closedir", "closelog", "confstr", "conj", "connect", "copysign", "cos", "cosh", "cpow", "cproj", "creal", "creat", "crypt", "csin",
    "csinh", "csqrt", "ctan", "ctanh", "ctime", "daemon", "difftime", "dirfd", "div", "dladdr", "dlclose", "dlerror", "dlopen", "dlsym",
    "dprintf", "drand48", "dup", "dup2", "endpwent", "environ", "erand48", "erf", "erfc", "err", "errno", "error", "errx", "execl",
    "execle", "execlp", "execv", "execve", "execvp", "exit", "exp", "exp10", "exp2", "explicit_bzero", "expm1", "fabs", "fchdir",
    "fchmod", "fchown", "fclose", "fcntl", "fdatasync", "fdim", "fdopen", "fdopendir", "feclearexcept", "fegetenv", "fegetexceptflag",
    "fegetround", "feholdexcept", "feof", "feraiseexcept", "ferror", "fesetenv", "fesetexceptflag", "fesetround", "fetestexcept",
    "feupdateenv", "fflush", "ffs", "fgetc", "fgetpos", "fgets", "fgetwc", "fgetws", "fileno", "flock", "flockfile", "floor", "fma",
    "fmax", "fmemopen", "fmin", "fmod", "fnmatch", "fopen", "fork", "fpathconf", "fprintf", "fputc", "fputs", "fputwc", "fputws", "fread",
    "free", "freeaddrinfo", "freopen", "frexp", "fscanf", "fseek", "fseeko", "fsetpos", "fstat", "fstatat", "fsync", "ftell", "ftello",
    "ftok", "ftruncate", "ftrylockfile", "ftw", "funlockfile", "futimens", "fwide", "fwprintf", "fwrite", "fwscanf", "gai_strerror",
    "gamma", "getaddrinfo", "getc", "getc_unlocked", "getchar", "getchar_unlocked", "getcwd", "getdelim", "getdents", "getegid", "getenv",
    "geteuid", "getgid", "getgrgid", "getgrnam", "getgroups", "gethostbyname", "gethostname", "getitimer", "getline", "getlogin",
    "getnameinfo", "getopt", "getpagesize", "getpeername", "getpgid", "getpgrp", "getpid", "getppid", "getpriority", "getpwnam",
    "getpwuid", "getrandom", "getrlimit", "getrusage", "gets", "getservbyname", "getsid", "getsockname", "getsockopt", "gettid",
    "gettimeofday", "getuid", "getwc", "getwchar", "glob", "globfree", "gmtime", "gmtime_r", "hcreate", "hdestroy", "hsearch", "htonl",
    "htons", "hypot", "iconv", "iconv_close", "iconv_open", "if_nametoindex", "ilogb", "imaxabs", "imaxdiv", "index", "inet_addr",
    "inet_ntoa", "inet_ntop", "inet_pton", "initgroups", "insque", "ioctl", "isalnum", "isalpha", "isascii", "isatty", "isblank",
    "iscntrl", "isdigit", "isgraph", "islower", "isprint", "ispunct", "isspace", "isupper", "iswalnum", "iswalpha", "iswblank",
    "iswcntrl", "iswctype", "iswdigit", "iswgraph", "iswlower", "iswprint", "iswpunct", "iswspace", "iswupper", "iswxdigit", "isxdigit",
    "j0", "j1", "jn", "jrand48", "kill", "killpg", "labs", "lchown", "lcong48", "ldexp", "ldiv", "lfind", "lgamma", "link", "linkat",
    "listen", "llabs", "lldiv", "llrint", "llround", "localeconv", "localtime", "localtime_r", "lockf", "log", "log10", "log1p", "log2",
    "logb", "longjmp", "lrand48", "lrint", "lround", "lsearch", "lseek", "lstat", "madvise", "main", "malloc", "mblen", "mbrlen",
    "mbrtoc16", "mbrtoc32", "mbrtowc", "mbsinit", "mbsrtowcs", "mbstowcs", "mbtowc", "memalign", "memccpy", "memchr", "memcmp", "memcpy",
    "memmem", "memmove", "mempcpy", "memrchr", "memset", "mincore", "mkdir", "mkdirat", "mkdtemp", "mkfifo", "mknod", "mkostemp",
    "mkstemp", "mktemp", "mktime", "mlock", "mlockall", "mmap", "modf", "mount", "mprotect", "mq_open", "mrand48", "mremap", "msgget",
    "msync", "munlock", "munlockall", "munmap", "nan", "nanosleep", "nearbyint", "nextafter", "nexttoward", "nftw", "nice", "nl_langinfo",
    "nrand48", "ntohl", "ntohs", "open", "open_memstream", "openat", "opendir", "openlog", "pathconf", "pause", "pclose", "perror",
    "pipe", "poll", "popen", "posix_fadvise", "posix_fallocate", "posix_madvise", "posix_memalign", "posix_spawn", "pow", "prctl",
    "pread", "preadv", "printf", "psignal", "ptrace", "putc", "putchar", "putenv", "puts", "putwc", "putwchar", "pwrite", "pwritev",
    "qsort", "quick_exit", "raise", "rand", "random", "read", "readdir", "readlink", "readv", "realloc", "reallocarray", "realpath",
    "reboot", "recv", "recvfrom", "recvmsg", "regcomp", "regerror", "regexec", "regfree", "remainder", "remove", "remque", "remquo",
    "rename", "rewind", "rewinddir", "rindex", "rint", "rmdir", "round", "sbrk", "scalbln", "scalbn", "scandir", "scanf",
    "sched_getaffinity", "sched_getcpu", "sched_setaffinity", "sched_setscheduler", "sched_yield", "secure_getenv", "seed48", "select",
    "sem_close", "sem_destroy", "sem_getvalue", "sem_init", "sem_open", "sem_post", "sem_timedwait", "sem_trywait", "sem_unlink",
    "sem_wait", "semget", "semop", "send", "sendfile", "sendmsg", "sendto", "setbuf", "setegid", "setenv", "seteuid", "setgid",
    "setgroups", "setitimer", "setjmp", "setlocale", "setpgid", "setpriority", "setrlimit", "setsid", "setsockopt", "setstate",
    "settimeofday", "setuid", "setvbuf", "shm_open", "shm_unlink", "shmat", "shmctl", "shmdt", "shmget", "shutdown", "sigaction",
    "sigaddset", "sigaltstack", "sigdelset", "sigemptyset", "sigfillset", "siginterrupt", "sigismember", "siglongjmp", "signal",
    "sigpending", "sigprocmask", "sigqueue", "sigsetjmp", "sigsuspend", "sigtimedwait", "sigwait", "sigwaitinfo", "sin", "sincos", "sinh",
    "sleep", "snprintf", "socket", "socketpair", "splice", "sprintf", "sqrt", "srand", "srand48", "srandom", "sscanf", "stat", "statfs",
    "statvfs", "stpcpy", "stpncpy", "strcasecmp", "strcat", "strchr", "strchrnul", "strcmp", "strcoll", "strcpy", "strcspn", "strdup",
    "strerror", "strerror_r", "strftime", "strlcat", "strlcpy", "strlen", "strncasecmp", "strncat", "strncmp", "strncpy", "strndup",
    "strnlen", "strpbrk", "strrchr", "strsep", "strsignal", "strspn", "strstr", "strtod", "strtof", "strtoimax", "strtok", "strtok_r",
    "strtol", "strtold", "strtoll", "strtoul", "strtoull", "strtoumax", "strverscmp", "strxfrm", "swab", "swprintf", "swscanf", "symlink",
    "sync", "syncfs", "syscall", "sysconf", "sysinfo", "syslog", "system", "tan", "tanh", "tcgetattr", "tcsetattr", "tdelete", "tee",
    "tempnam", "tfind", "tgamma", "time", "timegm", "timer_create", "timer_delete", "timer_settime", "times", "timespec_get", "tmpfile",
    "tmpnam", "toascii", "tolower", "toupper", "towctrans", "towlower", "towupper", "trunc", "truncate", "tsearch", "ttyname", "twalk",
    "tzset", "ualarm", "umask", "umount", "uname", "ungetc", "ungetwc", "unlink", "unlinkat", "unsetenv", "usleep", "utime", "utimes",
    "valloc", "vasprintf", "vdprintf", "vfork", "vfprintf", "vfscanf", "vfwprintf", "vfwscanf", "vprintf", "vscanf", "vsnprintf",
    "vsprintf", "vsscanf", "vswprintf", "vswscanf", "vwprintf", "vwscanf", "wait", "wait3", "wait4", "waitid", "waitpid", "warn", "warnx",
    "wcrtomb", "wcscasecmp", "wcscat", "wcschr", "wcscmp", "wcscoll", "wcscpy", "wcscspn", "wcsdup", "wcsftime", "wcslen", "wcsncat",
    "wcsncmp", "wcsncpy", "wcsnlen", "wcspbrk", "wcsrchr", "wcsrtombs", "wcsspn", "wcsstr", "wcstod", "wcstof", "wcstoimax", "wcstok",
    "wcstol", "wcstold", "wcstoll", "wcstombs", "wcstoul", "wcstoull", "wcstoumax", "wcsxfrm", "wctob", "wctomb", "wctrans", "wctype",
    "wmemchr", "wmemcmp", "wmemcpy", "wmemmove", "wmemset", "wordexp", "wprintf", "write", "writev", "wscanf", "y0", "y1", "yn"};
static_assert(std::is_sorted(std::begin(kFunctions), std::end(kFunctions)));

// Of threads, of atomics and of what compilers call by themselves.
constexpr std::string_view kBeginnings[] = {"pthread_", "mtx_", "cnd_", "thrd_", "tss_", "atomic_", "_dl_"};

bool is_named(std::string_view name) { return std::binary_search(std::begin(kFunctions), std::end(kFunctions), name); }

}  // namespace

bool is_c_function(std::string_view name) {
  bool is_kind = name.size() > 1 && (name.back() == 'f' || name.back() == 'l') && is_named(name.substr(0, name.size() - 1));
  return is_named(name) || is_kind || std::any_of(std::begin(kBeginnings), std::end(kBeginnings), [&](std::string_view b) { return name.starts_with(b); });
}

}  // namespace tilec::host
