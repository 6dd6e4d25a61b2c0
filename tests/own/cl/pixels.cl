// Images: whole texels, sampled ones, a volume.
constant sampler_t NEAR = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
kernel void swizzle(read_only image2d_t in, write_only image2d_t out) {
    if (get_global_id(0) >= get_image_width(in)) return;
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    uint4 v = read_imageui(in, NEAR, at);
    write_imageui(out, at, v.wzyx);
}
kernel void mixed(read_only image2d_t in, sampler_t how, write_only image2d_t out, float dx) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float2 p = (float2)(at.x + 0.5f + dx, at.y + 0.5f);
    write_imagef(out, at, read_imagef(in, how, p));
}
kernel void slices(read_only image3d_t in, global float4 *out, int w, int h) {
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    out[(z * h + y) * w + x] = read_imagef(in, NEAR, (int4)(x, y, z, 0)) * 2.0f;
}
