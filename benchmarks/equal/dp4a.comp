#version 450
// What samples/dp4a.cj computes, with products written out.
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Out { int result[]; };

int dot4(ivec4 a, ivec4 b, int start) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w + start; }

void main() {
    if (gl_GlobalInvocationID.x == 0) {
        ivec4 a = ivec4(1, 2, 3, 4);
        ivec4 b = ivec4(5, 6, 7, 8);
        result[0] = dot4(a, b, 0);
        result[1] = dot4(a, b, 100);
        result[2] = dot4(ivec4(200, 100, 50, 25), ivec4(2, 3, 4, 5), 0);
        result[3] = dot4(ivec4(0, 5, 10, 15), ivec4(-127, -90, -53, -16), -20);
    }
}
