// 64-bit whole numbers: products, shifts, atomics.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
kernel void longs(global long *a, global const long *b, global ulong *u, int shift) {
    int i = get_global_id(0);
    long x = a[i], y = b[i];
    a[i] = x * (y << shift) - mul_hi(x, y) + (long)((uint)x / ((uint)y | 1));
    u[i] = rotate(u[i], (ulong)shift) ^ (ulong)(x > y ? x : y) ^ (u[i] >> (shift & 63));
}
kernel void addlong(global long *sum, global const int *in) {
    atom_add(&sum[0], (long)in[get_global_id(0)] * 0x100000001l);
}
