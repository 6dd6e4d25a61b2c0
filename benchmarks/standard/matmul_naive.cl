// fault: bounds: a[row * k + i] -> a[row * k + i + 1]
kernel void matmul_naive(global float *c, global const float *a, global const float *b, int m, int n, int k) {
    int col = get_global_id(0), row = get_global_id(1);
    if (row < m && col < n) {
        float sum = 0;
        for (int i = 0; i < k; i++)
            sum += a[row * k + i] * b[i * n + col];
        c[row * n + col] = sum;
    }
}
