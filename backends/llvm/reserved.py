"""Identifiers that a C or C++ program has other uses for."""

from __future__ import annotations

import re

_KEYWORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long register restrict
return short signed sizeof static struct switch typedef union unsigned void volatile while alignas alignof bool constexpr
false nullptr static_assert thread_local true typeof typeof_unqual asm fortran linux unix i386 and and_eq bitand bitor catch
char8_t char16_t char32_t class co_await co_return co_yield compl concept const_cast consteval constinit decltype delete
dynamic_cast explicit export final friend import module mutable namespace new noexcept not not_eq operator or or_eq override
private protected public reinterpret_cast requires static_cast template this throw try typeid typename using virtual wchar_t
xor xor_eq
"""
# ISO/IEC 9899:2018 7.1.3: names with external linkage are the library's, whether its headers are included or not.
_LIBRARY = """
main abort abs acos acosh asctime asin asinh assert atan atan2 atanh atexit atof atoi atol atoll bsearch btowc cabs cacos
calloc carg casin catan cbrt ccos ceil cexp cimag clearerr clock clog conj copysign cos cosh cpow cproj creal csin csqrt ctan
ctime difftime div erf erfc errno exit exp exp2 expm1 fabs fclose fdim feof ferror fflush fgetc fgetpos fgets floor fma fmax
fmin fmod fopen fprintf fputc fputs fread free freopen frexp fscanf fseek fsetpos ftell fwrite getc getchar getenv gets gmtime
hypot ilogb imaxabs imaxdiv isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit
labs ldexp ldiv lgamma llabs lldiv llrint llround localeconv localtime log log10 log1p log2 logb longjmp lrint lround malloc
mblen mbtowc memchr memcmp memcpy memmove memset mktime modf nan nearbyint nextafter nexttoward perror pow printf putc putchar
puts qsort quick_exit raise rand realloc remainder remove remquo rename rewind rint round scalbln scalbn scanf setbuf setjmp
setlocale setvbuf signal sin sinh snprintf sprintf sqrt srand sscanf stderr stdin stdout strcat strchr strcmp strcoll strcpy
strcspn strerror strftime strlen strncat strncmp strncpy strpbrk strrchr strspn strstr strtod strtof strtok strtol strtold
strtoll strtoul strtoull strxfrm swprintf system tan tanh tgamma thrd_create time timespec_get tmpfile tmpnam tolower toupper
trunc ungetc vfprintf vprintf vsnprintf vsprintf wcscat wcscmp wcscpy wcslen wctomb wmemcmp wmemcpy wmemset wprintf
"""
# What the system's own library is built on (POSIX.1-2017); to define one of these changes how it works.
_SYSTEM = """
accept access alarm bind bcmp bcopy bzero chdir chmod close connect creat dup environ exec execve fcntl ffs fork fstat
ftruncate index ioctl j0 j1 jn kill link listen lseek lstat mkdir mmap mount munmap nice open pause pipe poll pread pwrite
random read readlink recv rindex rmdir seek select send setenv shutdown sleep socket stat stime sync truncate umask unlink
unsetenv usleep wait waitpid write y0 y1 yn
"""
_WORDS, _FUNCTIONS = frozenset(_KEYWORDS.split()), frozenset(f"{_LIBRARY} {_SYSTEM}".split())
# Types, and the macros of <stdint.h>; what headers of this project define.
_PATTERN = re.compile(r".*_t|(U?INT|PTRDIFF|SIZE|SIG_ATOMIC|WCHAR|WINT)\w*_(MIN|MAX|C)|cajeta_.*|CAJETA_.*", re.ASCII)
_LETTER = re.compile(r"[A-Za-z0-9_]", re.ASCII)


def make_identifier(word: str, *, external: bool) -> str:
    """The nearest C identifier that is free: `_` for dots and dollars, a number for letters that C may not know.

    external: it names a function that the linker sees, so it may not be that of a library's either.
    """
    made = "".join(c if _LETTER.match(c) else "_" if c in ".$" else f"_u{ord(c):x}_" for c in word)
    if made[:1].isdigit() or made.startswith("_"):
        made = f"c{made}"
    return f"{made}_" if made in _WORDS or _PATTERN.fullmatch(made) or (external and _is_function(made)) else made


def _is_function(name: str) -> bool:
    """Is it a library's? The mathematical ones are there for `float` and `long double` too."""
    return name in _FUNCTIONS or (name[-1:] in ("f", "l") and name[:-1] in _FUNCTIONS)
