// Lanes part ways: loops that end apart, switches, early returns.
kernel void hail(global const uint *in, global uint *out, uint limit) {
    int i = get_global_id(0);
    uint v = in[i], n = 0;
    while (v > 1 && n < limit) {
        v = v & 1 ? 3 * v + 1 : v >> 1;
        n++;
    }
    out[i] = n;
}
kernel void parted(global const int *what, global const int *v, global int *out) {
    int i = get_global_id(0), r;
    switch (what[i]) {
        case 0: r = v[i] + 1; break;
        case 1: r = v[i] * 3; break;
        case 2: r = v[i] ^ 0x55;
        case 3: r = v[i] >> 2; break;
        case 40: r = -v[i]; break;
        default: out[i] = -1; return;
    }
    __attribute__((opencl_unroll_hint(1)))
    for (int k = 0; k < 6; k++) {
        if (r & 1) {
            r += k;
            if (r > 5000) break;
            continue;
        }
        for (int j = k; j > 0; j--) {
            if ((r + j) % 5 == 0) break;
            r -= j;
        }
    }
    out[i] = r;
}
kernel void uniform_choice(global int *v, int mode, int k) {
    int i = get_global_id(0);
    if (mode == 0) v[i] += k;
    else if (mode == 1) v[i] = v[i] * k - 1;
    else
        for (int n = 0; n < k; n++) v[i] ^= n << (i & 7);
}
