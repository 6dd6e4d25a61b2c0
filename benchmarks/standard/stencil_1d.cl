// fault: bounds: i < n - 1 -> i < n
kernel void stencil_1d(global float *out, global const float *in, int n) {
    int i = get_global_id(0);
    if (i > 0 && i < n - 1)
        out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3;
}
