// Rows become columns: straight, through a tile, by bytes.
kernel void straight(global const float *in, global float *out, int width, int height) {
    int x = get_global_id(0), y = get_global_id(1);
    out[x * height + y] = in[y * width + x];
}
kernel void tiled(global const int *in, global int *out, int n) {
    local int tile[16][17];
    int lx = get_local_id(0), ly = get_local_id(1);
    tile[ly][lx] = in[get_global_id(1) * n + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    int x = get_group_id(1) * 16 + lx, y = get_group_id(0) * 16 + ly;
    out[y * n + x] = tile[lx][ly];
}
kernel void bytes4(global const uchar4 *in, global uchar4 *out) {
    int i = get_global_id(0) * 4;
    uchar4 a = in[i], b = in[i + 1], c = in[i + 2], d = in[i + 3];
    out[i] = (uchar4)(a.x, b.x, c.x, d.x);
    out[i + 1] = (uchar4)(a.y, b.y, c.y, d.y);
    out[i + 2] = (uchar4)(a.z, b.z, c.z, d.z);
    out[i + 3] = (uchar4)(a.w, b.w, c.w, d.w);
}
