/* What samples/dp4a.cj computes, over all work items of a launch. */
#include <stdint.h>

static int32_t dot_ss(const int8_t *a, const int8_t *b, int32_t start) {
    for (int i = 0; i < 4; i++) start += a[i] * b[i];
    return start;
}

static int32_t dot_uu(const uint8_t *a, const uint8_t *b, int32_t start) {
    for (int i = 0; i < 4; i++) start += a[i] * b[i];
    return start;
}

static int32_t dot_us(const uint8_t *a, const int8_t *b, int32_t start) {
    for (int i = 0; i < 4; i++) start += a[i] * b[i];
    return start;
}

void registers(int32_t *out, int64_t length, int64_t items) {
    for (int64_t item = 0; item < items; item++) {
        if (item == 0) {
            int8_t a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, x[4] = {-127, -90, -53, -16};
            uint8_t u[4] = {200, 100, 50, 25}, v[4] = {2, 3, 4, 5}, w[4] = {0, 5, 10, 15};
            out[0] = dot_ss(a, b, 0);
            out[1] = dot_ss(a, b, 100);
            out[2] = dot_uu(u, v, 0);
            out[3] = dot_us(w, x, -20);
        }
    }
}
