// fault: race: barrier(CLK_LOCAL_MEM_FENCE); // loaded -> // loaded
#define T 16
kernel __attribute__((reqd_work_group_size(T, T, 1)))
void matmul_tiled(global float *c, global const float *a, global const float *b, int m, int n, int k) {
    local float ta[T][T], tb[T][T];
    int x = get_local_id(0), y = get_local_id(1), col = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (int t = 0; t < k; t += T) {
        ta[y][x] = row < m && t + x < k ? a[row * k + t + x] : 0;
        tb[y][x] = t + y < k && col < n ? b[(t + y) * n + col] : 0;
        barrier(CLK_LOCAL_MEM_FENCE); // loaded
        for (int i = 0; i < T; i++)
            sum += ta[y][i] * tb[i][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}
