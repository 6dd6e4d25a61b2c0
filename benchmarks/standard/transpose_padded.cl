// fault: race: tile[ly][lx] = in -> tile[ly][lx / 2] = in
#define T 16
kernel __attribute__((reqd_work_group_size(T, T, 1)))
void transpose_padded(global float *out, global const float *in, int w, int h) {
    local float tile[T][T + 1];
    int lx = get_local_id(0), ly = get_local_id(1);
    int x = get_group_id(0) * T + lx, y = get_group_id(1) * T + ly;
    if (x < w && y < h)
        tile[ly][lx] = in[y * w + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    int tx = get_group_id(1) * T + lx, ty = get_group_id(0) * T + ly;
    if (tx < h && ty < w)
        out[ty * h + tx] = tile[lx][ly];
}
