// Images of every type, read and written, with samplers from the host and from the source.
kernel void read_and_write(read_only image2d_t im, global float4 *o, write_only image2d_t wi, sampler_t s, int w, global const int *idx) {
  int x = get_global_id(0), y = get_global_id(1);
  float4 v = read_imagef(im, s, (float2)(x + 0.5f, y + 0.5f));
  o[y * w + x] = v + idx[x]; write_imagef(wi, (int2)(x, y), v * 2.0f); }
kernel void image_facts(global int *o, read_only image2d_t im, read_only image3d_t im3, int u) {
  int i = get_global_id(0);
  o[i] = get_image_width(im) + 3 * get_image_height(im) + 7 * get_image_depth(im3) + 5*get_image_width(im3) + u + get_image_channel_order(im) + get_image_channel_data_type(im3); }
kernel void inline_sampler(read_only image2d_t im, global float4 *o) {
  const sampler_t s = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;
  int x = get_global_id(0); o[x] = read_imagef(im, s, (float2)(x * 0.1f, 0.3f)); }
kernel void line(read_only image1d_t im, global float4 *o, sampler_t s) { o[get_global_id(0)] = read_imagef(im, s, (float)get_global_id(0)*0.1f) + read_imagef(im, (int)get_global_id(0)); }
kernel void lines(read_only image1d_array_t im, global float4 *o, sampler_t s) { o[get_global_id(0)] = read_imagef(im, s, (float2)(get_global_id(0)*0.1f, 1.0f)) + read_imagef(im, (int2)(get_global_id(0),1)); }
kernel void plane(read_only image2d_t im, global float4 *o, sampler_t s) { o[get_global_id(0)] = read_imagef(im, s, (float2)(get_global_id(0)*0.1f, 1.0f)) + read_imagef(im, (int2)(get_global_id(0),1)); }
kernel void planes(read_only image2d_array_t im, global float4 *o, sampler_t s) { o[get_global_id(0)] = read_imagef(im, s, (float4)(get_global_id(0)*0.1f, 1.0f, 2.0f, 0.0f)) + read_imagef(im, (int4)(get_global_id(0),1, 2, 0)); }
kernel void volume(read_only image3d_t im, global float4 *o, sampler_t s) { o[get_global_id(0)] = read_imagef(im, s, (float4)(get_global_id(0)*0.1f, 1.0f, 2.0f, 0.0f)) + read_imagef(im, (int4)(get_global_id(0),1, 2, 0)); }
kernel void texels(read_only image1d_buffer_t im, global float4 *o) { o[get_global_id(0)] = read_imagef(im, (int)get_global_id(0)); }
kernel void written(write_only image2d_t a, write_only image2d_array_t b, write_only image1d_t c, global int *o) { int i = get_global_id(0); write_imagef(a, (int2)(i, 1), (float4)(i)); write_imagef(b, (int4)(i,1,2,0), (float4)(i)); write_imagef(c, i, (float4)(2*i)); o[i] = 3; }
kernel void two_samplers(global float4 *o, read_only image2d_t im, sampler_t s, write_only image2d_t w, read_only image2d_t im2, sampler_t s2, int n) {
  const sampler_t own = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;
  float2 p = (float2)(get_global_id(0) * 0.05f, get_global_id(1) * 0.1f);
  float4 v = read_imagef(im, s, p) + 2.0f * read_imagef(im2, s2, p) + 3.0f * read_imagef(im, own, p);
  if ((int)get_global_id(0) < n) { o[get_global_id(0)] = v; write_imagef(w, (int2)(get_global_id(0), get_global_id(1)), v); } }
