// fault: bounds: i < n -> i <= n
kernel void vector_add(global float *out, global const float *a, global const float *b, int n) {
    int i = get_global_id(0);
    if (i < n)
        out[i] = a[i] + b[i];
}
