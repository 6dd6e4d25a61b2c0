//! red 2x64 i32:128:-99:99 i32:2
kernel void red(global const int *a, global int *o) {
    local int l[64];
    int i = get_local_id(0);
    l[i] = a[get_global_id(0)];
    for (int s = 32; s; s >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < s) l[i] += l[i + s];
    }
    if (!i) o[get_group_id(0)] = l[0];
}

//! tr 2,2x8,8 f32:256:-9:9 f32:256
kernel void tr(global const float *a, global float *o) {
    local float t[8][9];
    int x = get_local_id(0), y = get_local_id(1);
    t[y][x] = a[get_global_id(1) * 16 + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    o[(get_group_id(0) * 8 + y) * 16 + get_group_id(1) * 8 + x] = t[x][y];
}

//! hist 2x32 u8:64 u32:256
kernel void hist(global const uchar *a, global uint *o) {
    local uint h[256];
    for (int i = get_local_id(0); i < 256; i += get_local_size(0)) h[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&h[a[get_global_id(0)]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_local_id(0); i < 256; i += get_local_size(0)) atomic_add(o + i, h[i]);
}

//! sbyte 2x32 i8:64 i8:64
kernel void sbyte(global const char *a, global char *o) {
    local char l[32];
    local short m[32];
    int i = get_local_id(0);
    l[i] = a[get_global_id(0)];
    m[i ^ 1] = l[i] * 3;
    barrier(CLK_LOCAL_MEM_FENCE);
    o[get_global_id(0)] = l[31 - i] + m[i];
}

//! slong 2x32 i64:64 i64:64
kernel void slong(global const long *a, global long *o) {
    local long l[32];
    local long4 q[8];
    int i = get_local_id(0);
    l[i] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 8) q[i] = vload4(i, l);
    barrier(CLK_LOCAL_MEM_FENCE);
    o[get_global_id(0)] = q[i & 7].z - l[(i * 7) & 31];
}

//! scan2 1x64 u32:64:0:100 u32:64
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void scan2(global const uint *a, global uint *o) {
    local uint l[2][64];
    int i = get_local_id(0), p = 0;
    l[0][i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < 64; d <<= 1) {
        l[1 - p][i] = l[p][i] + (i >= d ? l[p][i - d] : 0);
        p = 1 - p;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    o[i] = l[p][i];
}
