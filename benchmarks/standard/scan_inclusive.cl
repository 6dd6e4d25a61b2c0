// fault: race: barrier(CLK_LOCAL_MEM_FENCE); // exchanged -> // exchanged
#define N 128
kernel __attribute__((reqd_work_group_size(N, 1, 1)))
void scan_inclusive(global int *out, global const int *in) {
    local int buffers[2][N];
    int l = get_local_id(0), from = 0;
    buffers[0][l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < N; d *= 2) {
        int to = 1 - from;
        buffers[to][l] = l >= d ? buffers[from][l] + buffers[from][l - d] : buffers[from][l];
        from = to;
        barrier(CLK_LOCAL_MEM_FENCE); // exchanged
    }
    out[get_global_id(0)] = buffers[from][l];
}
