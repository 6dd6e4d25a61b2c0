// fault: race: out[row * n + i] = exp -> out[i] = exp
kernel void softmax_row(global float *out, global const float *in, int rows, int n) {
    int row = get_global_id(0);
    if (row >= rows)
        return;
    float top = -INFINITY, sum = 0;
    for (int i = 0; i < n; i++)
        top = fmax(top, in[row * n + i]);
    for (int i = 0; i < n; i++)
        sum += exp(in[row * n + i] - top);
    for (int i = 0; i < n; i++)
        out[row * n + i] = exp(in[row * n + i] - top) / sum;
}
