// 256-bin luminance histogram with local privatisation; also collects clipped pixel positions.
#define BINS 256

static inline uint luminance(uchar4 px)
{
    return (77u * px.x + 150u * px.y + 29u * px.z) >> 8;
}

__kernel void luma_histogram(__global const uchar4 *pixels,
                             __global uint *histogram,
                             __global uint *clipped_count,
                             __global uint *clipped_list,
                             const uint pixel_count,
                             const uint clip_level,
                             const uint list_capacity)
{
    __local uint local_bins[BINS];
    const uint lid = get_local_id(0);
    const uint lsize = get_local_size(0);

    for (uint b = lid; b < BINS; b += lsize)
        local_bins[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint i = get_global_id(0); i < pixel_count; i += get_global_size(0)) {
        const uint y = luminance(pixels[i]);
        atomic_inc(&local_bins[y]);
        if (y >= clip_level) {
            const uint slot = atomic_inc(clipped_count);
            if (slot < list_capacity)
                clipped_list[slot] = i;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint b = lid; b < BINS; b += lsize) {
        const uint n = local_bins[b];
        if (n != 0)
            atomic_add(&histogram[b], n);
    }
}
