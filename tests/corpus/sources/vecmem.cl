//! vl3 4x16 f32:192:-9:9 f32:192:-9:9
kernel void vl3(global const float *a, global float *b) {
    int i = get_global_id(0);
    float3 v = vload3(i, a);
    vstore3(v.zxy * 2.0f, i, b);
}

//! vl8s 4x8 i16:256 i16:256
kernel void vl8s(global const short *a, global short *b) {
    int i = get_global_id(0);
    short8 v = vload8(i, a);
    vstore8(v.s76543210 + (short8)(1,2,3,4,5,6,7,8), i, b);
}

//! vl16c 2x16 i8:512 i8:512
kernel void vl16c(global const char *a, global char *b) {
    int i = get_global_id(0);
    char16 v = vload16(i, a);
    vstore16(v.odd.s01234567 .s0123456701234567, i, b);
}

//! vl2l 2x16 i64:64 i64:64
kernel void vl2l(global const long *a, global long *b) {
    int i = get_global_id(0);
    long2 v = vload2(i, a);
    vstore2(v.yx - v, i, b);
}

//! vl4u 2x16 u8:132 u16:128
kernel void vl4u(global const uchar *a, global ushort *b) {
    int i = get_global_id(0);
    uchar4 v = vload4(i, a + 1);
    vstore4(convert_ushort4(v) * (ushort)257, i, b);
}

//! vloc 2x32 u32:64 u32:64 local:512
kernel void vloc(global const uint *a, global uint *b, local uint *l) {
    int i = get_local_id(0);
    vstore2((uint2)(a[get_global_id(0)], i), i, l);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 q = vload2((i + 5) & 31, l);
    b[get_global_id(0)] = q.x ^ (q.y << 7);
}
