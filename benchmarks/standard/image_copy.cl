// fault: race: (int2)(x, y), c) -> (int2)(x / 2, y), c)
kernel void image_copy(write_only image2d_t out, read_only image2d_t in) {
    const sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    int x = get_global_id(0), y = get_global_id(1);
    if (x < get_image_width(out) && y < get_image_height(out)) {
        float4 c = read_imagef(in, nearest, (int2)(x, y));
        write_imagef(out, (int2)(x, y), c);
    }
}
