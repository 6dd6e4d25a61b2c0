// 5x5 convolution over a 16x16 tile with halo in local memory.
#define TILE_W 16
#define TILE_H 16
#define RADIUS 2
#define PAD_W (TILE_W + 2 * RADIUS)
#define PAD_H (TILE_H + 2 * RADIUS)

static inline float fetch_clamped(__global const float *image, int x, int y, int width, int height)
{
    x = clamp(x, 0, width - 1);
    y = clamp(y, 0, height - 1);
    return image[y * width + x];
}

__kernel __attribute__((reqd_work_group_size(TILE_W, TILE_H, 1)))
void convolve5x5_local(__global const float *image,
                       __constant float *filter_taps,
                       __global float *filtered,
                       const int width,
                       const int height,
                       const float bias)
{
    __local float tile[PAD_H][PAD_W];
    const int lx = get_local_id(0);
    const int ly = get_local_id(1);
    const int x0 = get_group_id(0) * TILE_W - RADIUS;
    const int y0 = get_group_id(1) * TILE_H - RADIUS;

    for (int ty = ly; ty < PAD_H; ty += TILE_H)
        for (int tx = lx; tx < PAD_W; tx += TILE_W)
            tile[ty][tx] = fetch_clamped(image, x0 + tx, y0 + ty, width, height);
    barrier(CLK_LOCAL_MEM_FENCE);

    const int x = get_global_id(0);
    const int y = get_global_id(1);
    if (x >= width || y >= height)
        return;

    float sum = bias;
    for (int fy = 0; fy <= 2 * RADIUS; ++fy)
        for (int fx = 0; fx <= 2 * RADIUS; ++fx)
            sum += filter_taps[fy * (2 * RADIUS + 1) + fx] * tile[ly + fy][lx + fx];

    filtered[y * width + x] = fmax(sum, 0.0f);
}
