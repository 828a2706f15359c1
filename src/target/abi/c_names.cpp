// The names that C and C++ have already, as ISO C, C++ and POSIX list them and usual C libraries declare them.
#include "target/abi/c_names.h"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace tilec::target {

namespace {

// Keywords, types of the headers that a generated one includes, and what the generated text calls.
constexpr std::string_view kWords =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class co_await co_return co_yield compl concept "
    "const const_cast consteval constexpr constinit continue decltype default delete do double dynamic_cast else enum explicit export extern false float "
    "for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try "
    "typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq size_t ptrdiff_t max_align_t "
    "nullptr_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t intmax_t uintmax_t offsetof memcpy ";
// Macros that stand for something wherever they stand, of C, POSIX and the headers of Windows.
constexpr std::string_view kMacros =
    "ABSOLUTE ACCESSPERMS AIO_PRIO_DELTA_MAX ALLPERMS APIENTRY BIG_ENDIAN BOOL BOOL_MAX BOOL_WIDTH BUFSIZ BYTE_ORDER CALLBACK CLOCKS_PER_SEC CONST CSIGNAL "
    "DECIMAL_DIG DEFFILEMODE DELAYTIMER_MAX DELETE DOMAIN E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EADV EAFNOSUPPORT EAGAIN EALREADY EBADE EBADF EBADFD "
    "EBADMSG EBADR EBADRQC EBADSLT EBFONT EBUSY ECANCELED ECHILD ECHRNG ECOMM ECONNABORTED ECONNREFUSED ECONNRESET EDEADLK EDEADLOCK EDESTADDRREQ EDOM "
    "EDOTDOT EDQUOT EEXIST EFAULT EFBIG EHOSTDOWN EHOSTUNREACH EHWPOISON EIDRM EILSEQ EINPROGRESS EINTR EINVAL EIO EISCONN EISDIR EISNAM EKEYEXPIRED "
    "EKEYREJECTED EKEYREVOKED EL2HLT EL2NSYNC EL3HLT EL3RST ELIBACC ELIBBAD ELIBEXEC ELIBMAX ELIBSCN ELNRNG ELOOP EMEDIUMTYPE EMFILE EMLINK EMSGSIZE "
    "EMULTIHOP ENAMETOOLONG ENAVAIL ENETDOWN ENETRESET ENETUNREACH ENFILE ENOANO ENOBUFS ENOCSI ENODATA ENODEV ENOENT ENOEXEC ENOKEY ENOLCK ENOLINK "
    "ENOMEDIUM ENOMEM ENOMSG ENONET ENOPKG ENOPROTOOPT ENOSPC ENOSR ENOSTR ENOSYS ENOTBLK ENOTCONN ENOTDIR ENOTEMPTY ENOTNAM ENOTRECOVERABLE ENOTSOCK "
    "ENOTSUP ENOTTY ENOTUNIQ ENXIO EOF EOPNOTSUPP EOVERFLOW EOWNERDEAD EPERM EPFNOSUPPORT EPIPE EPROTO EPROTONOSUPPORT EPROTOTYPE ERANGE EREMCHG EREMOTE "
    "EREMOTEIO ERESTART ERFKILL EROFS ERROR ESHUTDOWN ESOCKTNOSUPPORT ESPIPE ESRCH ESRMNT ESTALE ESTRPIPE ETIME ETIMEDOUT ETOOMANYREFS ETXTBSY EUCLEAN "
    "EUNATCH EUSERS EWOULDBLOCK EXDEV EXFULL EXPR_NEST_MAX FALSE FAPPEND FAR FASYNC FD_CLOEXEC FD_SETSIZE FFSYNC FILENAME_MAX FIOGETOWN FIOSETOWN FNDELAY "
    "FNONBLOCK FOPEN_MAX F_DUPFD F_GETFD F_GETFL F_GETLK F_GETOWN F_LOCK F_OK F_RDLCK F_SETFD F_SETFL F_SETLK F_SETLKW F_SETOWN F_TEST F_TLOCK F_ULOCK "
    "F_UNLCK F_WRLCK HOST_NAME_MAX I IN INFINITY IOV_MAX LINE_MAX LITTLE_ENDIAN LOGIN_NAME_MAX L_INCR L_SET L_XTND L_ctermid L_tmpnam MATH_ERREXCEPT "
    "MATH_ERRNO MAX MAXFLOAT MAX_CANON MAX_HANDLE_SZ MAX_INPUT MB_CUR_MAX MB_LEN_MAX MIN MINSIGSTKSZ MLOCK_ONFAULT MQ_PRIO_MAX NAME_MAX NAN NEAR NFDBITS "
    "NGREG NGROUPS_MAX NO_ERROR NSIG NULL NZERO ONCE_FLAG_INIT OPAQUE OPTIONAL OUT OVERFLOW O_ACCMODE O_APPEND O_ASYNC O_CLOEXEC O_CREAT O_DIRECT "
    "O_DIRECTORY O_DSYNC O_EXCL O_NDELAY O_NOATIME O_NOCTTY O_NOFOLLOW O_NONBLOCK O_PATH O_RDONLY O_RDWR O_RSYNC O_SYNC O_TMPFILE O_TRUNC O_WRONLY PASCAL "
    "PATH_MAX PDP_ENDIAN PIPE_BUF PLOSS P_tmpdir RAND_MAX RELATIVE RE_DUP_MAX RTSIG_MAX R_OK SING SOMAXCONN SSIZE_MAX STDERR_FILENO STDIN_FILENO "
    "STDOUT_FILENO STRICT S_IEXEC S_IFBLK S_IFCHR S_IFDIR S_IFIFO S_IFLNK S_IFMT S_IFREG S_IFSOCK S_IREAD S_IRGRP S_IROTH S_IRUSR S_IRWXG S_IRWXO S_IRWXU "
    "S_ISGID S_ISUID S_ISVTX S_IWGRP S_IWOTH S_IWRITE S_IWUSR S_IXGRP S_IXOTH S_IXUSR TIME_UTC TLOSS TMP_MAX TRANSPARENT TRUE TSS_DTOR_ITERATIONS "
    "TTY_NAME_MAX UNDERFLOW VOID WCONTINUED WCOREFLAG WEOF WEXITED WINAPI WNOHANG WNOWAIT WORD_BIT WSTOPPED WUNTRACED W_OK X_OK cdecl complex errno far "
    "huge hyper i386 i486 i586 i686 interface linux math_errhandling max min near noreturn pascal rad1 rad2 rad3 sa_handler sa_sigaction sched_priority "
    "si_addr si_addr_lsb si_arch si_band si_call_addr si_fd si_int si_lower si_overrun si_pid si_pkey si_ptr si_status si_stime si_syscall si_timerid "
    "si_uid si_upper si_utime si_value sigev_notify_attributes sigev_notify_function small st_atime st_ctime st_mtime stderr stdin stdout unix ";
// So many macros begin so that all names in capitals do.
constexpr std::string_view kMacroBeginnings =
    "AF_ AT_ ATOMIC_ BUS_ CHAR_ CLD_ CLOCK_ CLONE_ CPU_ DBL_ EAI_ EXIT_ FALLOC_ FE_ FLT_ FPE_ FP_ HUGE_VAL ILL_ INT8_ INT16_ INT32_ INT64_ INTMAX_ INTPTR_ "
    "INT_ ITIMER_ LC_ LDBL_ LLONG_ LOCK_ LONG_ MADV_ MAP_ MATH_ MCL_ MFD_ MREMAP_ MSG_ MS_ PF_ POLL POSIX_ PRIO_ PROT_ PTHREAD_ PTRDIFF_ RENAME_ RLIMIT_ "
    "RLIM_ RTLD_ RUSAGE_ SCHAR_ SCHED_ SCM_ SEEK_ SEGV_ SEM_ SHRT_ SHUT_ SIG SIZE_ SI_ SNAN SOCK_ SOL_ SPLICE_ TIMER_ TRAP_ UCHAR_ UINT8_ UINT16_ UINT32_ "
    "UINT64_ UINTMAX_ UINTPTR_ UINT_ ULLONG_ ULONG_ USHRT_ UTIME_ WCHAR_ WINT_ ";
// Constants of <math.h>, one for each floating type.
constexpr std::string_view kMathConstants = "M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2";
// Functions of <math.h> and <complex.h>, one for each floating type.
constexpr std::string_view kMathFunctions =
    "acos acosh asin asinh atan atan2 atanh cabs cacos cacosh canonicalize carg casin casinh catan catanh cbrt ccos ccosh ceil cexp cimag clog clog10 conj "
    "copysign cos cosh cpow cproj creal csin csinh csqrt ctan ctanh erf erfc exp exp10 exp2 expm1 fabs fdim floor fma fmax fmaximum fmaximum_mag "
    "fmaximum_mag_num fmaximum_num fmaxmag fmin fminimum fminimum_mag fminimum_mag_num fminimum_num fminmag fmod frexp fromfp fromfpx getpayload hypot "
    "ilogb j0 j1 jn ldexp lgamma llogb llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nextdown nextup pow remainder "
    "remquo rint round roundeven scalbln scalbn setpayload setpayloadsig sin sincos sinh sqrt tan tanh tgamma totalorder totalordermag trunc ufromfp "
    "ufromfpx y0 y1 yn ";
// Other functions, macros with arguments, types and variables.
constexpr std::string_view kDeclared =
    "CMPLX CMPLXF CMPLXF128 CMPLXF32 CMPLXF32X CMPLXF64 CMPLXF64X CMPLXL CMSG_ALIGN CMSG_DATA CMSG_FIRSTHDR CMSG_LEN CMSG_NXTHDR CMSG_SPACE DL_CALL_FCT "
    "Dl_info FD_CLR FD_ISSET FD_SET FD_ZERO FILE Lmid_t S_ISBLK S_ISCHR S_ISDIR S_ISFIFO S_ISLNK S_ISREG S_ISSOCK S_TYPEISMQ S_TYPEISSEM S_TYPEISSHM "
    "TEMP_FAILURE_RETRY TIMESPEC_TO_TIMEVAL TIMEVAL_TO_TIMESPEC WCOREDUMP WEXITSTATUS WIFCONTINUED WIFEXITED WIFSIGNALED WIFSTOPPED WSTOPSIG WTERMSIG "
    "W_EXITCODE W_STOPCODE a64l abort abs accept accept4 access acct adjtime alarm aligned_alloc alloca arc4random arc4random_buf arc4random_uniform "
    "asctime asctime_r asprintf assert assert_perror at_quick_exit atexit atof atoi atol atoll atomic_flag_clear atomic_flag_clear_explicit "
    "atomic_flag_test_and_set atomic_flag_test_and_set_explicit atomic_signal_fence atomic_thread_fence basename bcmp bcopy be16toh be32toh be64toh bind "
    "blkcnt64_t blkcnt_t blksize_t brk bsearch btowc bzero c16rtomb c32rtomb c8rtomb caddr_t call_once calloc canonicalize_file_name chdir chmod chown "
    "chroot clearenv clearerr clearerr_unlocked clock clock_adjtime clock_getcpuclockid clock_getres clock_gettime clock_nanosleep clock_settime clock_t "
    "clockid_t clone close close_range closefrom cnd_t confstr connect copy_file_range cpu_set_t creat creat64 crypt ctermid ctime ctime_r cuserid daddl "
    "daddr_t daemon daylight ddivl dev_t dfmal difftime div div_t dladdr dladdr1 dlclose dlerror dlinfo dlmopen dlopen dlsym dlvsym dmull double_t dprintf "
    "drand48 drand48_r drem dremf dreml dsqrtl dsubl dup dup2 dup3 duplocale dysize eaccess ecvt ecvt_r endusershell environ erand48 erand48_r error_t "
    "euidaccess execl execle execlp execv execve execveat execvp execvpe exit explicit_bzero faccessat fadd faddl fallocate fallocate64 fchdir fchmod "
    "fchmodat fchown fchownat fclose fcloseall fcntl fcntl64 fcvt fcvt_r fd_mask fd_set fdatasync fdiv fdivl fdopen feclearexcept fedisableexcept "
    "feenableexcept fegetenv fegetexcept fegetexceptflag fegetmode fegetround feholdexcept femode_t fenv_t feof feof_unlocked feraiseexcept ferror "
    "ferror_unlocked fesetenv fesetexcept fesetexceptflag fesetmode fesetround fetestexcept fetestexceptflag feupdateenv fexcept_t fexecve fflush "
    "fflush_unlocked ffma ffmal ffs ffsl ffsll fgetc fgetc_unlocked fgetpos fgetpos64 fgets fgets_unlocked fgetwc fgetwc_unlocked fgetws fgetws_unlocked "
    "fileno fileno_unlocked finite finitef finitel float_t flockfile fmemopen fmul fmull fopen fopen64 fopencookie fork fpathconf fpclassify fpos64_t "
    "fpos_t fpregset_t fprintf fputc fputc_unlocked fputs fputs_unlocked fputwc fputwc_unlocked fputws fputws_unlocked fread fread_unlocked free freelocale "
    "freopen freopen64 fsblkcnt64_t fsblkcnt_t fscanf fseek fseeko fseeko64 fsetpos fsetpos64 fsfilcnt64_t fsfilcnt_t fsid_t fsqrt fsqrtl fstat fstat64 "
    "fstatat fstatat64 fsub fsubl fsync ftell ftello ftello64 ftruncate ftruncate64 ftrylockfile funlockfile futimens futimes futimesat fwide fwprintf "
    "fwrite fwrite_unlocked fwscanf gamma gammaf gammal gcvt get_current_dir_name getc getc_unlocked getchar getchar_unlocked getcpu getcwd getdate "
    "getdate_err getdate_r getdelim getdomainname getdtablesize getegid getentropy getenv geteuid getgid getgroups gethostid gethostname getitimer getline "
    "getloadavg getlogin getlogin_r getopt getpagesize getpass getpeername getpgid getpgrp getpid getppid getpriority getpt getresgid getresuid getrlimit "
    "getrlimit64 getrusage getsid getsockname getsockopt getsubopt gettid gettimeofday getuid getumask getusershell getw getwc getwc_unlocked getwchar "
    "getwchar_unlocked getwd gid_t gmtime gmtime_r grantpt greg_t gregset_t group_member gsignal htobe16 htobe32 htobe64 htole16 htole32 htole64 id_t "
    "idtype_t imaxabs imaxdiv imaxdiv_t index initstate initstate_r ino64_t ino_t int_fast16_t int_fast32_t int_fast64_t int_fast8_t int_least16_t "
    "int_least32_t int_least64_t int_least8_t isalnum isalnum_l isalpha isalpha_l isascii isascii_l isatty isblank isblank_l iscanonical iscntrl iscntrl_l "
    "isctype isdigit isdigit_l iseqsig isfdtype isfinite isgraph isgraph_l isgreater isgreaterequal isinf isinff isinfl isless islessequal islessgreater "
    "islower islower_l isnan isnanf isnanl isnormal isprint isprint_l ispunct ispunct_l issignaling isspace isspace_l issubnormal isunordered isupper "
    "isupper_l iswalnum iswalnum_l iswalpha iswalpha_l iswblank iswblank_l iswcntrl iswcntrl_l iswctype iswctype_l iswdigit iswdigit_l iswgraph iswgraph_l "
    "iswlower iswlower_l iswprint iswprint_l iswpunct iswpunct_l iswspace iswspace_l iswupper iswupper_l iswxdigit iswxdigit_l isxdigit isxdigit_l iszero "
    "jmp_buf jrand48 jrand48_r key_t kill kill_dependency killpg l64a labs lchmod lchown lcong48 lcong48_r ldiv ldiv_t le16toh le32toh le64toh lgamma_r "
    "lgammaf128_r lgammaf32_r lgammaf32x_r lgammaf64_r lgammaf64x_r lgammaf_r lgammal_r link linkat listen llabs lldiv lldiv_t locale_t localeconv "
    "localtime localtime_r lockf lockf64 loff_t longjmp lrand48 lrand48_r lseek lseek64 lstat lstat64 lutimes madvise main malloc mblen mbrlen mbrtoc16 "
    "mbrtoc32 mbrtoc8 mbrtowc mbsinit mbsnrtowcs mbsrtowcs mbstate_t mbstowcs mbtowc mcontext_t memccpy memchr memcmp memfd_create memfrob memmem memmove "
    "memory_order mempcpy memrchr memset mincore mkdir mkdirat mkdtemp mkfifo mkfifoat mknod mknodat mkostemp mkostemp64 mkostemps mkostemps64 mkstemp "
    "mkstemp64 mkstemps mkstemps64 mktemp mktime mlock mlock2 mlockall mmap mmap64 mode_t mprotect mrand48 mrand48_r mremap msync mtx_t munlock munlockall "
    "munmap name_to_handle_at nanosleep newlocale nexttoward nexttowardf nexttowardl nfds_t nice nlink_t nrand48 nrand48_r obstack_printf obstack_vprintf "
    "off64_t off_t on_exit once_flag open open64 open_by_handle_at open_memstream open_wmemstream openat openat64 optarg opterr optind optopt pathconf "
    "pause pclose perror pid_t pipe pipe2 pkey_alloc pkey_free pkey_get pkey_mprotect pkey_set poll popen ppoll pread pread64 printf prlimit prlimit64 "
    "process_madvise process_mrelease profil program_invocation_name program_invocation_short_name pselect psiginfo psignal ptsname ptsname_r putc "
    "putc_unlocked putchar putchar_unlocked putenv puts putw putwc putwc_unlocked putwchar putwchar_unlocked pwrite pwrite64 qecvt qecvt_r qfcvt qfcvt_r "
    "qgcvt qsort qsort_r quad_t quick_exit raise rand rand_r random random_r rawmemchr read readahead readlink readlinkat realloc reallocarray realpath "
    "recv recvfrom recvmmsg recvmsg register_t remap_file_pages remove rename renameat renameat2 revoke rewind rindex rlim64_t rlim_t rmdir rpmatch "
    "sa_family_t sbrk scalb scalbf scalbl scanf secure_getenv seed48 seed48_r select sem_clockwait sem_close sem_destroy sem_getvalue sem_init sem_open "
    "sem_post sem_t sem_timedwait sem_trywait sem_unlink sem_wait send sendmmsg sendmsg sendto setbuf setbuffer setdomainname setegid setenv seteuid setgid "
    "sethostid sethostname setitimer setjmp setlinebuf setlocale setlogin setns setpgid setpgrp setpriority setregid setresgid setresuid setreuid setrlimit "
    "setrlimit64 setsid setsockopt setstate setstate_r settimeofday setuid setusershell setvbuf shm_open shm_unlink shutdown sig_atomic_t sig_t "
    "sigabbrev_np sigaction sigaddset sigaltstack sigandset sigblock sigdelset sigdescr_np sigemptyset sigfillset siggetmask sighandler_t sighold sigignore "
    "siginterrupt sigisemptyset sigismember sigjmp_buf siglongjmp sigmask signal signbit signgam significand significandf significandl sigorset sigpause "
    "sigpending sigprocmask sigqueue sigrelse sigreturn sigset sigset_t sigsetjmp sigsetmask sigstack sigsuspend sigtimedwait sigval_t sigwait sigwaitinfo "
    "sleep snprintf sockatmark socket socketpair socklen_t splice sprintf srand srand48 srand48_r srandom srandom_r sscanf ssignal ssize_t stack_t stat "
    "stat64 statx std stpcpy stpncpy strcasecmp strcasecmp_l strcasestr strcat strchr strchrnul strcmp strcoll strcoll_l strcpy strcspn strdup strdupa "
    "strerror strerror_l strerror_r strerrordesc_np strerrorname_np strfromd strfromf strfromf128 strfromf32 strfromf32x strfromf64 strfromf64x strfroml "
    "strfry strftime strftime_l strlen strncasecmp strncasecmp_l strncat strncmp strncpy strndup strndupa strnlen strpbrk strptime strptime_l strrchr "
    "strsep strsignal strspn strstr strtod strtod_l strtof strtof128 strtof128_l strtof32 strtof32_l strtof32x strtof32x_l strtof64 strtof64_l strtof64x "
    "strtof64x_l strtof_l strtoimax strtok strtok_r strtol strtol_l strtold strtold_l strtoll strtoll_l strtoq strtoul strtoul_l strtoull strtoull_l "
    "strtoumax strtouq strverscmp strxfrm strxfrm_l suseconds_t swab swprintf swscanf symlink symlinkat sync sync_file_range syncfs syscall sysconf system "
    "sysv_signal tcgetpgrp tcsetpgrp tee tempnam tgkill thrd_start_t thrd_t time time_t timegm timelocal timer_create timer_delete timer_getoverrun "
    "timer_gettime timer_settime timer_t timeradd timerclear timercmp timerisset timersub timespec_get timespec_getres timezone tmpfile tmpfile64 tmpnam "
    "tmpnam_r toascii toascii_l tolower tolower_l toupper toupper_l towctrans towctrans_l towlower towlower_l towupper towupper_l truncate truncate64 "
    "tss_dtor_t tss_t ttyname ttyname_r ttyslot tzname tzset u_char u_long u_quad_t u_short ualarm ucontext_t uid_t uint uint_fast16_t uint_fast32_t "
    "uint_fast64_t uint_fast8_t uint_least16_t uint_least32_t uint_least64_t uint_least8_t ulong umask ungetc ungetwc unlink unlinkat unlockpt unsetenv "
    "unshare useconds_t uselocale ushort usleep utimensat utimes va_arg va_copy va_end va_list va_start valloc vasprintf vdprintf vfork vfprintf vfscanf "
    "vfwprintf vfwscanf vhangup vmsplice vprintf vscanf vsnprintf vsprintf vsscanf vswprintf vswscanf vwprintf vwscanf wait wait3 wait4 waitid waitpid "
    "wcpcpy wcpncpy wcrtomb wcscasecmp wcscasecmp_l wcscat wcschr wcschrnul wcscmp wcscoll wcscoll_l wcscpy wcscspn wcsdup wcsftime wcsftime_l wcslen "
    "wcsncasecmp wcsncasecmp_l wcsncat wcsncmp wcsncpy wcsnlen wcsnrtombs wcspbrk wcsrchr wcsrtombs wcsspn wcsstr wcstod wcstod_l wcstof wcstof128 "
    "wcstof128_l wcstof32 wcstof32_l wcstof32x wcstof32x_l wcstof64 wcstof64_l wcstof64x wcstof64x_l wcstof_l wcstoimax wcstok wcstol wcstol_l wcstold "
    "wcstold_l wcstoll wcstoll_l wcstombs wcstoq wcstoul wcstoul_l wcstoull wcstoull_l wcstoumax wcstouq wcswcs wcswidth wcsxfrm wcsxfrm_l wctob wctomb "
    "wctrans wctrans_l wctrans_t wctype wctype_l wctype_t wcwidth wint_t wmemchr wmemcmp wmemcpy wmemmove wmempcpy wmemset wprintf write wscanf "
    "_exit aio_read aio_write alphasort backtrace closedir closelog dirfd endpwent err error errx fdopendir flock fnmatch freeaddrinfo ftok ftw "
    "gai_strerror getaddrinfo getdents getgrgid getgrnam gethostbyname getnameinfo getpwnam getpwuid getrandom gets getservbyname glob globfree "
    "hcreate hdestroy hsearch htonl htons iconv iconv_close iconv_open if_nametoindex inet_addr inet_ntoa inet_ntop inet_pton initgroups insque "
    "ioctl lfind lsearch memalign mount mq_open msgget nftw nl_langinfo ntohl ntohs opendir openlog prctl preadv ptrace pwritev readdir readv "
    "reboot regcomp regerror regexec regfree remque rewinddir scandir semget semop sendfile setgroups shmat shmctl shmdt shmget statfs statvfs "
    "strlcat strlcpy sysinfo syslog tcgetattr tcsetattr tdelete tfind times tsearch twalk umount uname utime warn warnx wordexp writev "
    "gnu_dev_major gnu_dev_makedev gnu_dev_minor major makedev minor "
    "tile tile1 ";  // what the header declares begins so and goes on with `_`
// What functions of threads, atomics and scheduling begin with.
constexpr std::string_view kFunctionBeginnings = "atomic_ cnd_ mtx_ posix_ pthread_ sched_ thrd_ tss_ ";
constexpr std::array<std::string_view, 8> kFloatEndings = {"", "f", "l", "f32", "f64", "f128", "f32x", "f64x"};
// What a header declares itself and what C keeps for its own begin so.
constexpr std::array<std::string_view, 5> kOurBeginnings = {"tile_", "TILE_", "tile1_", "TILE1_", "__"};

using Words = std::unordered_set<std::string_view>;

Words words_of(std::string_view list) {
  Words words;
  for (size_t begin = 0; begin < list.size();) {
    size_t end = std::min(list.find(' ', begin), list.size());
    if (end > begin) words.insert(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

bool begins_as_one_of(std::string_view name, const Words& beginnings) {
  return std::ranges::any_of(beginnings, [&](std::string_view b) { return name.starts_with(b); });
}

bool is_one_with_ending(std::string_view name, const Words& stems) {
  return std::ranges::any_of(kFloatEndings, [&](std::string_view ending) {
    return name.ends_with(ending) && stems.contains(name.substr(0, name.size() - ending.size()));
  });
}

bool is_capital(char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

// `PRId64`, `SCNuMAX`
bool is_of_a_format(std::string_view name) {
  bool begins = name.starts_with("PRI") || name.starts_with("SCN");
  return begins && name.size() > 4 && std::string_view("diouxX").find(name[3]) != name.npos && is_capital(name[4]);
}

bool begins_as_macros_do(std::string_view name) {
  static const Words beginnings = words_of(kMacroBeginnings);
  return is_of_a_format(name) || (std::ranges::all_of(name, is_capital) && begins_as_one_of(name, beginnings));
}

bool is_macro(std::string_view name) {
  static const Words macros = words_of(kMacros), constants = words_of(kMathConstants);
  return macros.contains(name) || is_one_with_ending(name, constants) || begins_as_macros_do(name);
}

bool has_reserved_beginning(std::string_view name) {
  if (name.size() > 1 && name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z') return true;
  return std::ranges::any_of(kOurBeginnings, [&](std::string_view b) { return name.starts_with(b); });
}

// Members and arguments that the header adds.
constexpr std::array<std::string_view, 5> kAdded = {"bytes", "struct_size", "workspace", "workspace_bytes", "stream"};

}  // namespace

bool is_word_of_c(std::string_view name) {
  static const Words words = words_of(kWords);
  return words.contains(name) || is_macro(name) || has_reserved_beginning(name);
}

std::string_view beginning_of_run_time(std::string_view name) {
  auto is_it = [&](std::string_view beginning) { return beginning != "__" && name.starts_with(beginning); };
  auto found = std::ranges::find_if(kOurBeginnings, is_it);
  return found == kOurBeginnings.end() ? std::string_view() : *found;
}

bool is_declared_by_c(std::string_view name) {
  // At file scope all of these are the implementation's: `_end`, `_init`.
  if (name.starts_with('_')) return true;
  static const Words declared = words_of(kDeclared), math = words_of(kMathFunctions), beginnings = words_of(kFunctionBeginnings);
  return declared.contains(name) || is_one_with_ending(name, math) || begins_as_one_of(name, beginnings);
}

std::vector<std::string> argument_names(const std::vector<std::string>& names) {
  auto is_taken = [](std::string_view name) { return is_word_of_c(name) || std::ranges::find(kAdded, name) != kAdded.end(); };
  std::unordered_set<std::string> taken;
  for (const std::string& name : names)
    if (!is_taken(name)) taken.insert(name);
  std::vector<std::string> safe;
  for (std::string name : names) {
    if (is_taken(name)) {
      // Nothing behind it mends a name that begins as the header's own do, or as macros.
      if (has_reserved_beginning(name) || begins_as_macros_do(name)) name = "arg_" + name;
      while (is_taken(name) || taken.contains(name)) name += '_';
      taken.insert(name);
    }
    safe.push_back(std::move(name));
  }
  return safe;
}

}  // namespace tilec::target
