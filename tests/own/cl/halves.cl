#pragma OPENCL EXTENSION cl_khr_fp16 : enable
// Half precision, exact in eighths.
kernel void eighths(global const half4 *a, global const half4 *b, global half4 *out, half k) {
    int i = get_global_id(0);
    half4 v = a[i] * k + b[i];
    out[i] = select(floor(v), fmax(v, (half4)(1.5h)), isgreater(a[i], b[i]));
}
kernel void widen(global const half *a, global float *out, global half *back) {
    int i = get_global_id(0);
    float f = a[i];
    out[i] = fabs(f) + 0.125f;
    back[i] = convert_half_rtz(f * 1.3f);
}
