/* Runs the functions of dots.cj on what a file holds and prints all results.
 *
 *     dots NEWEST CASES
 *
 * NEWEST is what the dispatcher is told, or `first` to have the first call decide. CASES: for each case two int64, rows and
 * columns, then as many bytes of `u` and of `s`. With ONE_TARGET defined there is nothing to choose from.
 */
#include "dots.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(int condition, const char *what) {
    if (!condition) {
        printf("%s\n", what);
        exit(1);
    }
}

static void *allocate(int64_t bytes) {
    void *memory = calloc((size_t)(bytes ? bytes : 1), 1);
    expect(memory != NULL, "no memory");
    return memory;
}

static void run_cases(FILE *file) {
    int64_t size[2];
    while (fread(size, sizeof size, 1, file) == 1) {
        const int64_t bytes = size[0] * size[1];
        uint8_t *u = (uint8_t *)allocate(bytes);
        int8_t *s = (int8_t *)allocate(bytes);
        int32_t *y = (int32_t *)allocate(16 * size[0]);
        expect(fread(u, 1, (size_t)bytes, file) == (size_t)bytes && fread(s, 1, (size_t)bytes, file) == (size_t)bytes, "short file");
        struct cajeta_launch launch = cajeta_make_launch((uint32_t)size[0], 1, 1, 1, 1, 1);
        rows(y, 4 * size[0], u, bytes, s, bytes, size[1], &launch);
        expect(launch.fault.site == 0, "fault");
        for (int64_t i = 0; i < 4 * size[0]; i++) printf("%" PRId32 " ", y[i]);
        struct cajeta_fault fault = cajeta_no_fault();
        printf("%" PRId64 " %" PRId64 "\n", total(u, bytes, 0, &fault), total(u, bytes, 1, &fault));
        if (bytes) printf("%d\n", last(s, bytes, &fault));
        expect(fault.site == 0, "fault");
        free(u);
        free(s);
        free(y);
    }
}

static void run_others(void) {
    int32_t numbers[48];
    for (int i = 0; i < 48; i++) numbers[i] = i;
    struct cajeta_launch launch = cajeta_make_launch(3, 1, 1, 16, 1, 1);
    reverse(numbers, 48, &launch);
    for (int i = 0; i < 48; i++) printf("%" PRId32 " ", numbers[i]);
    printf("\n");

    uint32_t places[6 * 4 * 4];
    memset(places, 255, sizeof places);
    launch = cajeta_make_launch(3, 2, 2, 2, 2, 2);
    launch.first_group = 5; /* the rest first, then what was left out */
    where(places, 96, &launch);
    launch.first_group = 0;
    launch.end_group = 5;
    where(places, 96, &launch);
    for (int i = 0; i < 96; i++) printf("%" PRIu32 " ", places[i]);
    printf("\n");

    struct cajeta_fault fault = cajeta_no_fault();
    printf("%d %d %d\n", less(1.5f, 1.75, 200, -3, &fault), less(1.5f, 1.5, 200, -3, &fault), less(-1e30f, 0.0, 255, 255, &fault));
}

int main(int argc, char **argv) {
    expect(argc == 3, "two arguments are needed");
#ifndef ONE_TARGET
    if (strcmp(argv[1], "first") != 0) printf("chosen %" PRId32 "\n", cajeta_choose_dots((int32_t)atoi(argv[1])));
#endif
    FILE *file = fopen(argv[2], "rb");
    expect(file != NULL, "no file");
    run_cases(file);
    fclose(file);
    run_others();
    return 0;
}
