/* Prints what faults say of themselves, for the variant that the argument names. */
#include "faults.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void tell(struct cajeta_fault fault) {
    const struct cajeta_place place = cajeta_place_faults(fault.site);
    printf("%d %s:%" PRId32 " lanes %" PRId32, (int)place.kind, place.file, place.line, place.lanes);
    printf(" group %" PRId64 " item %" PRId64 " value %" PRId64 " other %" PRId64 "\n", fault.group, fault.item, fault.value, fault.other);
}

int main(int argc, char **argv) {
    int32_t in[8] = {1, 2, 3, 4, 5, 6, 7, INT32_MIN}, out[8] = {0};
    struct cajeta_fault fault;
    if (argc != 2 || cajeta_choose_faults((int32_t)atoi(argv[1])) < 0) return 2;

    struct cajeta_launch launch = cajeta_make_launch(2, 1, 1, 2, 1, 1);
    copy(out, 8, in, 8, 1, &launch);
    tell(launch.fault);
    launch = cajeta_make_launch(4, 1, 1, 2, 1, 1); /* items 5, 6 and 7 read beyond the end, and 5 is the first */
    copy(out, 8, in, 8, 1, &launch);
    tell(launch.fault);
    for (int i = 0; i < 8; i++) printf("%" PRId32 " ", out[i]);
    printf("\n");
    launch = cajeta_make_launch(1, 1, 1, 2, 1, 1);
    copy(out, 8, in, 8, 0, &launch);
    tell(launch.fault);
    launch = cajeta_make_launch(1, 1, 1, 1, 1, 1);
    lane(out, 8, 4, &launch);
    tell(launch.fault);

    fault = cajeta_no_fault();
    printf("%" PRId32 " ", fill(INT64_C(1) << 50, &fault));
    tell(fault);
    fault = cajeta_no_fault();
    printf("%" PRId32 " ", deep(9999, &fault));
    tell(fault);
    printf("%" PRId32 " ", deep(20000, &fault));
    tell(fault);
    fault = cajeta_no_fault();
    printf("%d ", at((const uint8_t *)"abc", 3, UINT64_MAX, &fault));
    tell(fault);
    return 0;
}
