//! args 1x16 i64:16 i32:5 i64:77 i16:-3 u8:200 f32:2.5
kernel void args(global long *o, int a, long b, short c, uchar d, float e) {
    int i = get_global_id(0);
    o[i] = a * i + b - c * d + (long)(e * i);
}

//! fp 1x32 i32:32 i32:32
kernel void fp(global const int *a, global int *o) {
    int i = get_global_id(0);
    long p = (long)a[i] * 0x10003 >> 16;
    ulong q = (ulong)(uint)a[i] * 0x9e3779b1u;
    o[i] = (int)p ^ (int)(q >> 32) ^ mul_hi(a[i], 12345);
}

//! bsearch 1x32 i32:128 i32:32 i32:32
kernel void bsearch(global const int *t, global const int *k, global int *o) {
    int i = get_global_id(0), lo = 0, hi = 128;
    while (lo < hi) {
        int m = (lo + hi) >> 1;
        if (t[m] < k[i]) lo = m + 1;
        else hi = m;
    }
    o[i] = lo;
}

//! life 2,1x16,8 u8:256:0:1 u8:256
kernel void life(global const uchar *a, global uchar *o) {
    int x = get_global_id(0), y = get_global_id(1), n = 0;
    for (int dy = -1; dy < 2; dy++) for (int dx = -1; dx < 2; dx++) n += (dx || dy) ? a[((y + dy) & 7) * 32 + ((x + dx) & 31)] : 0;
    o[y * 32 + x] = n == 3 || (n == 2 && a[y * 32 + x]);
}

//! vsel 2x16 i32:128 f32:128:-9:9 i32:128
kernel void vsel(global const int4 *a, global const float4 *f, global int4 *o) {
    int i = get_global_id(0);
    int4 v = a[i];
    float4 g = f[i];
    o[i] = select(v, v.wzyx, g > 0.0f) + (v > v.yxwz ? v : -v) + as_int4(isless(g, g.yxwz)) + (v && v.x) ;
}

//! early 2x32 i32:64:-9:9 i32:64
kernel void early(global int *a, global int *o) {
    int i = get_global_id(0);
    if (a[i] < 0) return;
    if (a[i] == 3) {
        o[i] = 1;
        return;
    }
    for (int k = 0; ; k++) {
        if (k * k > a[i]) {
            o[i] = k;
            break;
        }
        if (k == 2 && (i & 1)) return;
    }
    o[i] += 100;
}
