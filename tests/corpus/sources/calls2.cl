__attribute__((noinline)) float f1(float x, int n) {
    float s = 0;
    for (int i = 0; i < n; i++) s += x / (i + 1);
    return s;
}
__attribute__((noinline)) int2 f2(int2 v, global int *p) {
    p[0] = v.x;
    return v.yx * 3;
}
__attribute__((noinline)) long f3(long a, char b, short c, float4 d) {
    return a * b + c + (long)d.z;
}
typedef struct {
    int a;
    float b;
}  R;
__attribute__((noinline)) R f4(R r, int k) {
    r.a += k;
    r.b *= k;
    return r;
}
__attribute__((noinline)) void f5(private int *p, int n) {
    for (int i = 0; i < n; i++) p[i] = i * n;
}

//! ca 2x16 f32:32:-9:9 i32:32:0:9 f32:32 tol:1e-6
kernel void ca(global const float *a, global const int *n, global float *o) {
    int i = get_global_id(0);
    o[i] = f1(a[i], n[i]) + (n[i] > 5 ? f1(a[i] * 2, 3) : 0.0f);
}

//! cb 2x16 i32:64 i32:32 i64:32
kernel void cb(global const int2 *a, global int *o, global long *l) {
    int i = get_global_id(0);
    int2 r = f2(a[i], o + i);
    l[i] = f3(r.x, (char)r.y, (short)r.x, convert_float4((int4)(r >> 20, r >> 22)));
}

//! cd 1x16 i32:16:0:7 i32:16
kernel void cd(global const int *a, global int *o) {
    int i = get_global_id(0);
    int t[8];
    f5(t, 8);
    o[i] = t[a[i]];
}
