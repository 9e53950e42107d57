/* What the kernels are measured against: the same work by hand, with intrinsics where the compiler does not find them.
 *
 * `benchmarks/kernels.py` compiles it with -O3 -march=native. Functions with `vnni` in their name need AVX-512 VNNI; the others
 * are plain C. All take the layouts of the samples.
 */
#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

static float half(const uint8_t *p) {
    uint16_t bits;
    memcpy(&bits, p, 2);
    return _cvtsh_ss(bits);
}

/* Calls a dot product again and again on the same bytes, which a compiler that looks into it could do once. */
#define REPEATED(name, weights)                                                                              \
    void repeat_##name(int32_t *y, const weights *w, const int8_t *x, int64_t n, int64_t times) {            \
        for (int64_t t = 0; t < times; t++) y[t] = name(w, x, n);                                            \
    }
#define OPAQUE __attribute__((noipa))

/* ---- dot products of n bytes */

OPAQUE int32_t dot_us_plain(const uint8_t *w, const int8_t *x, int64_t n) {
    int32_t sum = 0;
    for (int64_t i = 0; i < n; i++) sum += w[i] * x[i];
    return sum;
}
REPEATED(dot_us_plain, uint8_t)

OPAQUE int32_t dot_ss_plain(const int8_t *w, const int8_t *x, int64_t n) {
    int32_t sum = 0;
    for (int64_t i = 0; i < n; i++) sum += w[i] * x[i];
    return sum;
}
REPEATED(dot_ss_plain, int8_t)

void saxpy(float *y, const float *x, float a, int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}

/* What a call alone costs: `benchmarks/calls.py`. */
void call(int32_t *y, const uint8_t *w, const int8_t *x, const float *s, int32_t n, int64_t at) {
    if (n > 0) y[0] = w[at] + x[at] + (int32_t)s[at];
}

/* ---- Q8_0 and Q6_K, as one would write them */

void q8_0_plain(float *y, const uint8_t *w, const int8_t *x, const float *scales, int64_t rows, int64_t blocks) {
    for (int64_t r = 0; r < rows; r++) {
        float total = 0;
        for (int64_t b = 0; b < blocks; b++) {
            const uint8_t *block = w + (r * blocks + b) * 34;
            const int8_t *q = (const int8_t *)block + 2, *v = x + b * 32;
            int32_t sum = 0;
            for (int i = 0; i < 32; i++) sum += q[i] * v[i];
            total += half(block) * scales[b] * sum;
        }
        y[r] = total;
    }
}

void q6k_plain(float *y, const uint8_t *w, const int8_t *x, const float *scales, int64_t rows, int64_t blocks) {
    for (int64_t r = 0; r < rows; r++) {
        float total = 0;
        for (int64_t b = 0; b < blocks; b++) {
            const uint8_t *block = w + (r * blocks + b) * 210;
            const int8_t *s = (const int8_t *)block + 192, *v = x + b * 256;
            int32_t sum = 0;
            for (int h = 0; h < 2; h++) {
                const uint8_t *low = block + 64 * h, *high = block + 128 + 32 * h;
                int32_t part[8] = {0};
                for (int i = 0; i < 32; i++) {
                    int32_t q0 = (low[i] & 15) | (high[i] & 3) << 4, q1 = (low[i + 32] & 15) | (high[i] >> 2 & 3) << 4;
                    int32_t q2 = low[i] >> 4 | (high[i] >> 4 & 3) << 4, q3 = low[i + 32] >> 4 | high[i] >> 6 << 4;
                    part[i / 16] += (q0 - 32) * v[i];
                    part[2 + i / 16] += (q1 - 32) * v[i + 32];
                    part[4 + i / 16] += (q2 - 32) * v[i + 64];
                    part[6 + i / 16] += (q3 - 32) * v[i + 96];
                }
                for (int j = 0; j < 8; j++) sum += part[j] * s[8 * h + j];
                v += 128;
            }
            total += half(block + 208) * scales[b] * sum;
        }
        y[r] = total;
    }
}

#ifdef __AVX512VNNI__
OPAQUE int32_t dot_us_vnni(const uint8_t *w, const int8_t *x, int64_t n) {
    __m512i s[8];
    for (int k = 0; k < 8; k++) s[k] = _mm512_setzero_si512();
    int64_t i = 0;
    for (; i + 512 <= n; i += 512)
        for (int k = 0; k < 8; k++)
            s[k] = _mm512_dpbusd_epi32(s[k], _mm512_loadu_si512(w + i + 64 * k), _mm512_loadu_si512(x + i + 64 * k));
    for (; i + 64 <= n; i += 64) s[0] = _mm512_dpbusd_epi32(s[0], _mm512_loadu_si512(w + i), _mm512_loadu_si512(x + i));
    for (int k = 1; k < 8; k++) s[0] = _mm512_add_epi32(s[0], s[k]);
    int32_t sum = _mm512_reduce_add_epi32(s[0]);
    for (; i < n; i++) sum += w[i] * x[i];
    return sum;
}
REPEATED(dot_us_vnni, uint8_t)

void dot_rows_vnni(int32_t *y, const uint8_t *w, const int8_t *x, int64_t rows, int64_t columns) {
    for (int64_t r = 0; r < rows; r++) y[r] = dot_us_vnni(w + r * columns, x, columns);
}

OPAQUE int32_t dot_ss_vnni(const int8_t *w, const int8_t *x, int64_t n) {
    const __m512i bias = _mm512_set1_epi8(-128);
    __m512i s[8], taken[4];
    for (int k = 0; k < 8; k++) s[k] = _mm512_setzero_si512();
    for (int k = 0; k < 4; k++) taken[k] = _mm512_setzero_si512();
    int64_t i = 0;
    for (; i + 512 <= n; i += 512)
        for (int k = 0; k < 8; k++) {
            __m512i v = _mm512_loadu_si512(x + i + 64 * k);
            s[k] = _mm512_dpbusd_epi32(s[k], _mm512_xor_si512(_mm512_loadu_si512(w + i + 64 * k), bias), v);
            taken[k % 4] = _mm512_dpbusd_epi32(taken[k % 4], bias, v);
        }
    for (int k = 1; k < 8; k++) s[0] = _mm512_add_epi32(s[0], s[k]);
    for (int k = 0; k < 4; k++) s[0] = _mm512_sub_epi32(s[0], taken[k]);
    int32_t sum = _mm512_reduce_add_epi32(s[0]);
    for (; i < n; i++) sum += w[i] * x[i];
    return sum;
}
REPEATED(dot_ss_vnni, int8_t)

/* ---- Q4_K: once with all lanes scaled and one sum for a block, once with a sum for every 32 weights, and the fastest known:
 * pairs of products in 16 bits, which nibbles cannot overflow, times a 16-bit scale. */

static void q4k_scales(const uint8_t *block, uint8_t s[8], uint8_t m[8]) {
    for (int j = 0; j < 4; j++) {
        uint8_t p = block[4 + j], q = block[8 + j], r = block[12 + j];
        s[j] = p & 63;
        m[j] = q & 63;
        s[j + 4] = (r & 15) | p >> 6 << 4;
        m[j + 4] = r >> 4 | q >> 6 << 4;
    }
}

static int32_t q4k_minimums(const uint8_t m[8], const int32_t *sums) {
    __m256i wide = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)m));
    __m256i products = _mm256_mullo_epi32(wide, _mm256_loadu_si256((const __m256i *)sums));
    __m128i h = _mm_add_epi32(_mm256_castsi256_si128(products), _mm256_extracti128_si256(products, 1));
    h = _mm_add_epi32(h, _mm_unpackhi_epi64(h, h));
    return _mm_cvtsi128_si32(_mm_add_epi32(h, _mm_shuffle_epi32(h, 1)));
}

static int32_t sum_of(__m256i v) {
    __m128i h = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    h = _mm_add_epi32(h, _mm_unpackhi_epi64(h, h));
    return _mm_cvtsi128_si32(_mm_add_epi32(h, _mm_shuffle_epi32(h, 1)));
}

void q4k_vnni(float *y, const uint8_t *w, const int8_t *x, const float *scales, const int32_t *sums, int64_t rows, int64_t blocks) {
    const __m256i low = _mm256_set1_epi8(15), zero = _mm256_setzero_si256();
    for (int64_t r = 0; r < rows; r++) {
        float total = 0;
        for (int64_t b = 0; b < blocks; b++) {
            const uint8_t *block = w + (r * blocks + b) * 144;
            const int8_t *v = x + b * 256;
            uint8_t s[8], m[8];
            q4k_scales(block, s, m);
            __m256i sum = zero;
            for (int c = 0; c < 4; c++) {
                __m256i q = _mm256_loadu_si256((const __m256i *)(block + 16 + 32 * c));
                __m256i a = _mm256_dpbusd_epi32(zero, _mm256_and_si256(q, low), _mm256_loadu_si256((const __m256i *)(v + 64 * c)));
                __m256i h = _mm256_and_si256(_mm256_srli_epi16(q, 4), low);
                __m256i d = _mm256_dpbusd_epi32(zero, h, _mm256_loadu_si256((const __m256i *)(v + 64 * c + 32)));
                sum = _mm256_add_epi32(sum, _mm256_mullo_epi32(a, _mm256_set1_epi32(s[2 * c])));
                sum = _mm256_add_epi32(sum, _mm256_mullo_epi32(d, _mm256_set1_epi32(s[2 * c + 1])));
            }
            float whole = half(block) * (float)sum_of(sum) - half(block + 2) * (float)q4k_minimums(m, sums + 8 * b);
            total += scales[b] * whole;
        }
        y[r] = total;
    }
}

void q4k_pairs_vnni(float *y, const uint8_t *w, const int8_t *x, const float *scales, const int32_t *sums, int64_t rows,
                    int64_t blocks) {
    const __m256i low = _mm256_set1_epi8(15);
    for (int64_t r = 0; r < rows; r++) {
        float total = 0;
        for (int64_t b = 0; b < blocks; b++) {
            const uint8_t *block = w + (r * blocks + b) * 144;
            const int8_t *v = x + b * 256;
            uint8_t s[8], m[8];
            q4k_scales(block, s, m);
            __m256i sum = _mm256_setzero_si256();
            for (int c = 0; c < 4; c++) {
                __m256i q = _mm256_loadu_si256((const __m256i *)(block + 16 + 32 * c));
                __m256i a = _mm256_maddubs_epi16(_mm256_and_si256(q, low), _mm256_loadu_si256((const __m256i *)(v + 64 * c)));
                __m256i h = _mm256_and_si256(_mm256_srli_epi16(q, 4), low);
                __m256i d = _mm256_maddubs_epi16(h, _mm256_loadu_si256((const __m256i *)(v + 64 * c + 32)));
                sum = _mm256_dpwssd_epi32(sum, a, _mm256_set1_epi16(s[2 * c]));
                sum = _mm256_dpwssd_epi32(sum, d, _mm256_set1_epi16(s[2 * c + 1]));
            }
            float whole = half(block) * (float)sum_of(sum) - half(block + 2) * (float)q4k_minimums(m, sums + 8 * b);
            total += scales[b] * whole;
        }
        y[r] = total;
    }
}

void q4k_sub_vnni(float *y, const uint8_t *w, const int8_t *x, const float *scales, const int32_t *sums, int64_t rows,
                  int64_t blocks) {
    const __m256i low = _mm256_set1_epi8(15), zero = _mm256_setzero_si256();
    for (int64_t r = 0; r < rows; r++) {
        float total = 0;
        for (int64_t b = 0; b < blocks; b++) {
            const uint8_t *block = w + (r * blocks + b) * 144;
            const int8_t *v = x + b * 256;
            uint8_t s[8], m[8];
            q4k_scales(block, s, m);
            int32_t sum = 0;
            for (int c = 0; c < 4; c++) {
                __m256i q = _mm256_loadu_si256((const __m256i *)(block + 16 + 32 * c));
                __m256i a = _mm256_dpbusd_epi32(zero, _mm256_and_si256(q, low), _mm256_loadu_si256((const __m256i *)(v + 64 * c)));
                __m256i h = _mm256_and_si256(_mm256_srli_epi16(q, 4), low);
                __m256i d = _mm256_dpbusd_epi32(zero, h, _mm256_loadu_si256((const __m256i *)(v + 64 * c + 32)));
                sum += sum_of(a) * s[2 * c] + sum_of(d) * s[2 * c + 1];
            }
            float whole = half(block) * (float)sum - half(block + 2) * (float)q4k_minimums(m, sums + 8 * b);
            total += scales[b] * whole;
        }
        y[r] = total;
    }
}

struct half {
    float *y;
    const uint8_t *w;
    const int8_t *x;
    const float *scales;
    const int32_t *sums;
    int64_t rows, blocks, times;
};

static void *run_half(void *given) {
    struct half *h = given;
    for (int64_t t = 0; t < h->times; t++) q4k_vnni(h->y, h->w, h->x, h->scales, h->sums, h->rows, h->blocks);
    return NULL;
}

/* The same several times by two threads, of which the second is made for it: what the machine has to give. */
void q4k_two_vnni(float *y, const uint8_t *w, const int8_t *x, const float *scales, const int32_t *sums, int64_t rows,
                  int64_t blocks, int64_t times) {
    struct half first = {y, w, x, scales, sums, rows / 2, blocks, times};
    struct half second = {y + rows / 2, w + rows / 2 * blocks * 144, x, scales, sums, rows - rows / 2, blocks, times};
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_half, &second)) return;
    run_half(&first);
    pthread_join(thread, NULL);
}

/* Sixteen rows interleaved, as `q4k_rows16.cj` has them: a lane for each row. `rows` is that of the matrix. */
void q4k_rows16_vnni(float *y, const uint8_t *w, const int8_t *x, const float *scales, const int32_t *sums, int64_t rows,
                     int64_t blocks) {
    const __m512i low = _mm512_set1_epi8(15);
    for (int64_t r = 0; r < rows; r += 16) {
        __m512 total = _mm512_setzero_ps();
        for (int64_t b = 0; b < blocks; b++) {
            const uint8_t *block = w + (r / 16 * blocks + b) * 2368;
            __m512i sum = _mm512_setzero_si512(), least = _mm512_setzero_si512();
            for (int c = 0; c < 4; c++) {
                __m512i l = _mm512_setzero_si512(), h = _mm512_setzero_si512();
#pragma GCC unroll 8
                for (int s = 0; s < 8; s++) {
                    __m512i q = _mm512_loadu_si512(block + 64 * (8 * c + s));
                    int32_t v[2];
                    memcpy(v, x + 256 * b + 64 * c + 4 * s, 4);
                    memcpy(v + 1, x + 256 * b + 64 * c + 4 * s + 32, 4);
                    l = _mm512_dpbusd_epi32(l, _mm512_and_si512(q, low), _mm512_set1_epi32(v[0]));
                    h = _mm512_dpbusd_epi32(h, _mm512_and_si512(_mm512_srli_epi16(q, 4), low), _mm512_set1_epi32(v[1]));
                }
                const __m128i *s = (const __m128i *)(block + 2048 + 32 * c), *m = (const __m128i *)(block + 2176 + 32 * c);
                sum = _mm512_add_epi32(sum, _mm512_mullo_epi32(l, _mm512_cvtepu8_epi32(_mm_loadu_si128(s))));
                sum = _mm512_add_epi32(sum, _mm512_mullo_epi32(h, _mm512_cvtepu8_epi32(_mm_loadu_si128(s + 1))));
                for (int k = 0; k < 2; k++) {
                    __m512i v = _mm512_set1_epi32(sums[8 * b + 2 * c + k]);
                    least = _mm512_add_epi32(least, _mm512_mullo_epi32(v, _mm512_cvtepu8_epi32(_mm_loadu_si128(m + k))));
                }
            }
            __m512 d = _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(block + 2304)));
            __m512 e = _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(block + 2336)));
            __m512 whole = _mm512_sub_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), d), _mm512_mul_ps(_mm512_cvtepi32_ps(least), e));
            total = _mm512_add_ps(total, _mm512_mul_ps(whole, _mm512_set1_ps(scales[b])));
        }
        _mm512_storeu_ps(y + r, total);
    }
}

/* The two kernels of `q4k_reduce.cj`: nibbles with scales that are decoded already. */
void reduce_block_vnni(int32_t *y, const uint8_t *w, const uint8_t *scales, const int8_t *x, int64_t rows, int64_t blocks) {
    const __m256i low = _mm256_set1_epi8(15), zero = _mm256_setzero_si256();
    for (int64_t r = 0; r < rows; r++) {
        int32_t total = 0;
        for (int64_t b = 0; b < blocks; b++) {
            const uint8_t *block = w + (r * blocks + b) * 128, *s = scales + (r * blocks + b) * 8;
            const int8_t *v = x + b * 256;
            __m256i sum = zero;
            for (int c = 0; c < 4; c++) {
                __m256i q = _mm256_loadu_si256((const __m256i *)(block + 32 * c));
                __m256i a = _mm256_dpbusd_epi32(zero, _mm256_and_si256(q, low), _mm256_loadu_si256((const __m256i *)(v + 64 * c)));
                __m256i h = _mm256_and_si256(_mm256_srli_epi16(q, 4), low);
                __m256i d = _mm256_dpbusd_epi32(zero, h, _mm256_loadu_si256((const __m256i *)(v + 64 * c + 32)));
                sum = _mm256_add_epi32(sum, _mm256_mullo_epi32(a, _mm256_set1_epi32(s[2 * c])));
                sum = _mm256_add_epi32(sum, _mm256_mullo_epi32(d, _mm256_set1_epi32(s[2 * c + 1])));
            }
            total += sum_of(sum);
        }
        y[r] = total;
    }
}

void reduce_sub_vnni(int32_t *y, const uint8_t *w, const uint8_t *scales, const int8_t *x, int64_t rows, int64_t blocks) {
    const __m256i low = _mm256_set1_epi8(15), zero = _mm256_setzero_si256();
    for (int64_t r = 0; r < rows; r++) {
        int32_t total = 0;
        for (int64_t b = 0; b < blocks; b++) {
            const uint8_t *block = w + (r * blocks + b) * 128, *s = scales + (r * blocks + b) * 8;
            const int8_t *v = x + b * 256;
            for (int c = 0; c < 4; c++) {
                __m256i q = _mm256_loadu_si256((const __m256i *)(block + 32 * c));
                __m256i a = _mm256_dpbusd_epi32(zero, _mm256_and_si256(q, low), _mm256_loadu_si256((const __m256i *)(v + 64 * c)));
                __m256i h = _mm256_and_si256(_mm256_srli_epi16(q, 4), low);
                __m256i d = _mm256_dpbusd_epi32(zero, h, _mm256_loadu_si256((const __m256i *)(v + 64 * c + 32)));
                total += sum_of(a) * s[2 * c] + sum_of(d) * s[2 * c + 1];
            }
        }
        y[r] = total;
    }
}

/* ---- a matrix product: 12 rows by 32 columns at a time, B in panels as `gemm_tiles.cj` has it; m and n are multiples */

void gemm_vnni(int32_t *c, const int32_t *a, const int8_t *b, int64_t m, int64_t n, int64_t steps) {
    for (int64_t row = 0; row < m; row += 12)
        for (int64_t column = 0; column < n; column += 32) {
            const int8_t *panel = b + column * 4 * steps;
            __m512i left[12], right[12];
            for (int r = 0; r < 12; r++) left[r] = right[r] = _mm512_setzero_si512();
            for (int64_t p = 0; p < steps; p++) {
                __m512i l = _mm512_loadu_si512(panel + 128 * p), h = _mm512_loadu_si512(panel + 128 * p + 64);
#pragma GCC unroll 12
                for (int r = 0; r < 12; r++) {
                    __m512i v = _mm512_set1_epi32(a[(row + r) * steps + p]);
                    left[r] = _mm512_dpbusd_epi32(left[r], v, l);
                    right[r] = _mm512_dpbusd_epi32(right[r], v, h);
                }
            }
            for (int r = 0; r < 12; r++) {
                _mm512_storeu_si512(c + (row + r) * n + column, left[r]);
                _mm512_storeu_si512(c + (row + r) * n + column + 16, right[r]);
            }
        }
}

#endif
