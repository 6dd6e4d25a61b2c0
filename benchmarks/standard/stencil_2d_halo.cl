// fault: race: barrier(CLK_LOCAL_MEM_FENCE); -> 
#define T 16
kernel __attribute__((reqd_work_group_size(T, T, 1)))
void stencil_2d_halo(global float *out, global const float *in, int w, int h) {
    local float tile[T + 2][T + 2];
    int lx = get_local_id(0), ly = get_local_id(1), x = get_global_id(0), y = get_global_id(1);
    for (int r = ly; r < T + 2; r += T)
        for (int c = lx; c < T + 2; c += T) {
            int sx = clamp((int)get_group_id(0) * T + c - 1, 0, w - 1);
            int sy = clamp((int)get_group_id(1) * T + r - 1, 0, h - 1);
            tile[r][c] = in[sy * w + sx];
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x < w && y < h)
        out[y * w + x] = tile[ly][lx + 1] + tile[ly + 2][lx + 1] + tile[ly + 1][lx] + tile[ly + 1][lx + 2];
}
