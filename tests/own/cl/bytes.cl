// Small types: conversions that saturate, bit counts, packing.
kernel void narrow(global const float *in, global char *a, global ushort *b, global uint *c, global uchar4 *d, global const float4 *in4) {
    int i = get_global_id(0);
    a[i] = convert_char_sat_rte(in[i]);
    b[i] = convert_ushort_sat(in[i] * 200.0f);
    c[i] = convert_uint_sat_rtp(in[i]);
    d[i] = convert_uchar4_sat_rte(in4[i]);
}
kernel void bits(global uint *v, global const short *s, global const uchar *b) {
    int i = get_global_id(0);
    uint x = v[i];
    int y = s[i];
    x = rotate(x, 5u) + popcount(x) * 3 + clz(x ^ b[i]) + hadd(x, (uint)b[i]) + abs_diff(y, (int)b[i]);
    x ^= upsample((ushort)s[i], (ushort)(b[i] * 5)) + mad24(y, 3, (int)b[i]);
    v[i] = add_sat(x, 0x80000000u) - (uint)sub_sat(s[i], (short)20000);
}
kernel void pack(global const char4 *a, global const char4 *b, global int *out, int n) {
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < n; k++) {
        char4 x = a[i * n + k], y = b[k];
        sum += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
    }
    out[i] = sum;
}
