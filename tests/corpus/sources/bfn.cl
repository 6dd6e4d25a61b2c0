//! b3 2x16 u32:32 u32:32 u32:32 u32:32
kernel void b3(global const uint *a, global const uint *b, global const uint *c, global uint *o) {
    int i = get_global_id(0);
    uint x = a[i], y = b[i], z = c[i];
    uint r = (x & y) | (~x & z);
    r += (x & y) ^ (y & z) ^ (x & z);
    r ^= ~(x | y) & z;
    r += x ^ y ^ z;
    r ^= (x | ~y) ^ z;
    r += (x & ~z) | (y & z) ;
    o[i] = r;
}

//! sha 1x16 u32:256 u32:16
kernel void sha(global const uint *w, global uint *o) {
    int i = get_global_id(0);
    uint a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476, e = 0xc3d2e1f0;
    for (int t = 0; t < 16; t++) {
        uint f = t < 8 ? (b & c) | (~b & d) : (b & c) | (b & d) | (c & d);
        uint q = rotate(a, 5u) + f + e + 0x5a827999 + w[i * 16 + t];
        e = d;
        d = c;
        c = rotate(b, 30u);
        b = a;
        a = q;
    }
    o[i] = a ^ b ^ c ^ d ^ e;
}

//! b16 2x16 u16:32 u16:32 u16:32
kernel void b16(global const ushort *a, global const ushort *b, global ushort *o) {
    int i = get_global_id(0);
    ushort x = a[i], y = b[i], z = x + y;
    o[i] = (x & y) | (~x & z) ^ (y | z);
}

//! b64 2x16 u64:32 u64:32 u64:32
kernel void b64(global const ulong *a, global const ulong *b, global ulong *o) {
    int i = get_global_id(0);
    ulong x = a[i], y = b[i], z = x * 0x9e3779b97f4a7c15UL;
    z ^= z >> 29;
    o[i] = ((x & y) | (~x & z)) ^ rotate(y, 13UL) ^ (ulong)popcount(z) ^ clz(x);
}
