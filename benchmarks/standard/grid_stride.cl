// fault: race: y[i] = s * x[i] -> y[i / 2] = s * x[i]
kernel void grid_stride(global float *y, global const float *x, float s, int n) {
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        y[i] = s * x[i];
}
