// A matrix product through shared local memory, whole numbers so that it is exact.
#define TILE 8
kernel void tiles(global const int *a, global const int *b, global int *c, int n) {
    local int left[TILE][TILE], right[TILE][TILE];
    int lx = get_local_id(0), ly = get_local_id(1), x = get_global_id(0), y = get_global_id(1);
    int sum = 0;
    for (int t = 0; t < n; t += TILE) {
        left[ly][lx] = a[y * n + t + lx];
        right[ly][lx] = b[(t + ly) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++) sum += left[ly][k] * right[k][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * n + x] = sum;
}

kernel void plain(global const float *a, global const float *b, global float *c, int rows, int columns, int inner) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= columns || y >= rows) return;
    float sum = 0.0f;
    for (int k = 0; k < inner; k++) sum = fma(a[y * inner + k], b[k * columns + x], sum);
    c[y * columns + x] = sum;
}
