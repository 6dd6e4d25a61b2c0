// Exclusive Blelloch scan of block counts; two elements per work-item.
#define BLOCK 512

static void upsweep(__local uint *tree, uint lid)
{
    uint offset = 1;
    for (uint d = BLOCK >> 1; d > 0; d >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < d) {
            uint left = offset * (2 * lid + 1) - 1;
            uint right = offset * (2 * lid + 2) - 1;
            tree[right] += tree[left];
        }
        offset <<= 1;
    }
}

static void downsweep(__local uint *tree, uint lid)
{
    uint offset = BLOCK >> 1;
    for (uint d = 1; d < BLOCK; d <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < d) {
            uint left = offset * (2 * lid + 1) - 1;
            uint right = offset * (2 * lid + 2) - 1;
            uint t = tree[left];
            tree[left] = tree[right];
            tree[right] += t;
        }
        offset >>= 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel __attribute__((reqd_work_group_size(BLOCK / 2, 1, 1)))
void scan_block_counts(__global const uint *counts,
                       __global uint *offsets,
                       __global uint *block_totals,
                       const uint length)
{
    __local uint tree[BLOCK];
    const uint lid = get_local_id(0);
    const uint base = get_group_id(0) * BLOCK;
    const uint a = base + lid;
    const uint b = a + BLOCK / 2;

    tree[lid] = a < length ? counts[a] : 0;
    tree[lid + BLOCK / 2] = b < length ? counts[b] : 0;
    upsweep(tree, lid);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0) {
        block_totals[get_group_id(0)] = tree[BLOCK - 1];
        tree[BLOCK - 1] = 0;
    }
    downsweep(tree, lid);
    if (a < length) offsets[a] = tree[lid];
    if (b < length) offsets[b] = tree[lid + BLOCK / 2];
}
