// Functions of the hardware and those that the compiler builds of them.
kernel void curves(global float *a, global const float *b) {
    int i = get_global_id(0);
    float x = a[i], y = b[i];
    a[i] = exp(y * 0.5f) - log(y) + hypot(x, y) + exp2(x) + asin(x * 0.25f);
}
kernel void fast_curves(global float *a, global const float *b) {
    int i = get_global_id(0);
    float x = a[i], y = b[i];
    a[i] = native_sin(x) + native_cos(y) + native_exp2(x) * native_log2(y) + native_sqrt(y) + native_recip(y) + native_rsqrt(y);
}
kernel void rounded(global float *a, global int *e) {
    int i = get_global_id(0);
    float x = a[i];
    int n;
    float m = frexp(x, &n);
    e[i] = n + convert_int_rtn(x) * 3 + isnan(x) + signbit(x) * 1000;
    a[i] = floor(x) + ceil(x * 3.0f) * 2.0f + trunc(x * 5.0f) + rint(x * 7.0f) + m + clamp(x, -1.0f, 2.0f) + copysign(1.0f, x);
}
