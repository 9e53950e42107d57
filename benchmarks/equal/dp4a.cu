// What samples/dp4a.cj computes, with the instruction of the GPU.
extern "C" __global__ void registers(int *out, long long length) {
    if (blockIdx.x * blockDim.x + threadIdx.x == 0) {
        int a = 0x04030201, b = 0x08070605;
        out[0] = __dp4a(a, b, 0);
        out[1] = __dp4a(a, b, 100);
        out[2] = __dp4a(0x193264c8u, 0x05040302u, 0u);
        asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(out[3]) : "r"(0x0f0a0500), "r"(0xf0cba681), "r"(-20));
    }
}
