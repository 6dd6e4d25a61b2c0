kernel void hist(global uchar *px, global uint *h, uint n) {  // 32 lanes
    local int *slm_int = (local int *)slm;  // 256 elements
    int lid = local_id(0);
    for (uint k = lid; k < 256; k += local_size(0)) {
        slm_int[k] = 0;
    }
    work_group_barrier();
    for (uint i = global_id(0); i < n; i += global_size(0)) {
        atomic_inc(&slm_int[px[i]]);
    }
    work_group_barrier();
    for (uint k = lid; k < 256; k += local_size(0)) {
        atomic_add(&h[k], slm_int[k]);
    }
}
kernel void copy(global int *a, global int *o) {  // 32 lanes
    for (int k = 0; k < 5; k++) {
        o[k] = a[k];
    }
}
kernel void gcd(global uint *a, global uint *b, global uint *o, uint n) {  // 32 lanes
    uint gid = global_id(0);
    if (gid < n) {
        long index = gid;
        uint a_index = a[index];
        uint b_index = b[index];
        if ((int)b_index != 0) {
            uint t = a_index;
            do {
                int t2 = t % b_index;
                a_index = b_index;
                t = b_index;
                b_index = t2;
            } while (b_index != 0);
        }
        o[index] = a_index;
    }
}
kernel void gemm(global float *a, global float *b, global float *c, int n) {  // 32 lanes
    local float *slm_float = (local float *)slm;  // 128 elements
    int lx = local_id(0);
    int x = global_id(0);
    int ly = local_id(1);
    int y = global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < n; k += 8) {
        slm_float[ly * 8 + lx] = a[y * n + k + lx];
        slm_float[ly * 8 + 64 + lx] = b[(k + ly) * n + x];
        work_group_barrier();
        for (int j = 0; j < 8; j++) {
            sum = fma(slm_float[lx + j * 8 + 64], slm_float[ly * 8 + j], sum);
        }
        work_group_barrier();
    }
    c[y * n + x] = sum;
}
kernel void lcg(global ulong *s, global uint *o, int n) {  // 32 lanes
    uint gid = global_id(0);
    int2 s_gid = ((int2 *)s)[gid];
    uint t = s_gid.x;
    uint t2 = s_gid.y;
    for (int k = 0; k < n; k++) {
        uint product = t * 0x4c957f2d;
        uint t3 = ((ulong)((long)t * 0x4c957f2d) >> 32) + t * 0x5851f42d + 0x4c957f2d * t2;
        t = product - 0x8987eb1;
        t2 = carry(product, (uint)-0x8987eb1) + (t3 + 0x14057b7e);
    }
    ((int2 *)s)[gid] = (int2){t, t2};
    o[gid] = t2 >> 1;
}
kernel void primes(global int *o, int n) {  // 16 lanes
    int gid = global_id(0);
    if (gid < n) {
        int count = 0;
        for (uint k = 2; (int)k < gid; k++) {
            if ((k & 1) != 0 || k <= 2) {
                bool holds = true;
                for (uint j = 2; j * j <= k; j++) {
                    if (remainder(k, j) == 0) {
                        holds = false;
                        break;
                    }
                }
                count += holds;
                if (count >= 101) break;
            }
        }
        o[gid] = count;
    }
}
kernel void priv(global int *a, global int *o) {  // 32 lanes
    int gid = global_id(0);
    int a_value[16];
    for (int k = 0; k < 16; k++) {
        a_value[k] = a[gid * 16 + k];
    }
    for (int k = 15; k > 0; k--) {
        for (int j = 0; j < k; j++) {
            int smaller = min(a_value[j], a_value[j + 1]);
            a_value[j + 1] = max(a_value[j], a_value[j + 1]);
            a_value[j] = smaller;
        }
    }
    for (int k = 0; k < 16; k++) {
        o[gid * 16 + k] = a_value[k];
    }
}
kernel void find(global char *text, uint n, constant char *pat, uint m, global uint *hits, global uint *count) {  // 16 lanes
    uint gid = global_id(0);
    if (gid + m <= n) {
        uint k;
        for (k = 0; k < m; k++) {
            if (text[gid + k] != pat[k]) break;
        }
        if (k == m) {
            uint slot = atomic_inc(count);
            hits[slot] = gid;
        }
    }
}
kernel void softmax(global float *in, global float *out, int n) {  // 32 lanes
    int gid = global_id(0);
    float largest = in[gid * n];
    for (int k = 1; k < n; k++) {
        largest = fmax(largest, in[gid * n + k]);
    }
    float sum = 0.0f;
    for (int k = 0; k < n; k++) {
        sum += exp(in[gid * n + k] - largest);
    }
    for (int k = 0; k < n; k++) {
        out[gid * n + k] = scaled_divide(exp(in[gid * n + k] - largest), sum);
    }
}
struct P { float at0; float at4; float at8; int at12; };
kernel void move(global struct P *p, float dt, int n) {  // 32 lanes
    int gid = global_id(0);
    if (gid < n) {
        struct P p_gid = p[gid];
        p[gid].at0 = fma(dt, p_gid.at4, p_gid.at0);
        p[gid].at8 = fabs(p_gid.at8);
        p[gid].at12 = p_gid.at12 + 1;
    }
}
