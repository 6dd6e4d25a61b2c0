//! pidx 2x16 i32:32:0:15 i32:32
kernel void pidx(global const int *a, global int *o) {
    int i = get_global_id(0);
    int t[16];
    for (int k = 0; k < 16; k++) t[k] = k * i;
    t[a[i]] += 100;
    t[a[31 - i]] ^= 3;
    int s = 0;
    for (int k = 0; k < 16; k++) s = s * 5 + t[(k + a[i]) & 15];
    o[i] = s;
}

//! pchar 1x32 u8:1024 u32:32
kernel void pchar(global const uchar *a, global uint *o) {
    int i = get_global_id(0);
    uchar h[64];
    for (int k = 0; k < 64; k++) h[k] = 0;
    for (int k = 0; k < 32; k++) h[a[i * 32 + k] & 63]++;
    uint s = 0;
    for (int k = 0; k < 64; k++) s = s * 31 + h[k];
    o[i] = s;
}

//! plong 1x16 i64:16 i64:16 i32:5
kernel void plong(global const long *a, global long *o, int n) {
    int i = get_global_id(0);
    long t[8];
    for (int k = 0; k < 8; k++) t[k] = a[(i + k) & 15];
    for (int k = 0; k < n; k++) {
        long x = t[k & 7];
        t[k & 7] = t[(k * 3) & 7];
        t[(k * 3) & 7] = x;
    }
    o[i] = t[i & 7] + t[0];
}
constant float LUT[12] = {1.5f, 2, 3, 4.25f, 5, 6, 7, 8, 9.5f, 10, 11, 12};
constant ushort LU2[3][4] = {{1, 2, 3, 4}, {50, 60, 70, 80}, {900, 901, 902, 65535}};

//! ctab 1x32 i32:32:0:11 f32:32 
kernel void ctab(global const int *a, global float *o) {
    int i = get_global_id(0);
    o[i] = LUT[a[i]] * (float)LU2[a[i] % 3][i & 3];
}

//! sorts 1x16 i32:128 i32:128
kernel void sorts(global const int *a, global int *o) {
    int i = get_global_id(0);
    int t[8];
    for (int k = 0; k < 8; k++) t[k] = a[i * 8 + k];
    for (int k = 1; k < 8; k++) {
        int v = t[k], j = k - 1;
        while (j >= 0 && t[j] > v) {
            t[j + 1] = t[j];
            j--;
        }
        t[j + 1] = v;
    }
    for (int k = 0; k < 8; k++) o[i * 8 + k] = t[k];
}
