// A right kernel: the length of a row is computed from an unsigned argument.
kernel void long_rows(global float *w, global const float *a, uint n, uint k) {
    uint i = get_global_id(0);
    if (i < n) {
        uint row = i * (k + 1);
        w[row + k] = a[i];
        w[row] = 2.0f;
    }
}
