// fault: bounds: rgb[3 * i + 2] -> rgb[3 * i + 3]
kernel void planar_image(global uchar *planes, global const uchar *rgb, int n) {
    int i = get_global_id(0);
    if (i < n) {
        planes[i] = rgb[3 * i];
        planes[n + i] = rgb[3 * i + 1];
        planes[2 * n + i] = rgb[3 * i + 2];
    }
}
