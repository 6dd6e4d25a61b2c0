// fault: race: barrier(CLK_LOCAL_MEM_FENCE); // zeroed -> // zeroed
kernel void histogram_local(global uint *hist, global const uchar *data, int n) {
    local uint bins[256];
    for (int b = get_local_id(0); b < 256; b += get_local_size(0))
        bins[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE); // zeroed
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&bins[data[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int b = get_local_id(0); b < 256; b += get_local_size(0))
        atomic_add(&hist[b], bins[b]);
}
