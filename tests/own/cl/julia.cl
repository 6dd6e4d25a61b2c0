// Iteration that ends at another time in each lane; a packed colour is written.
kernel void julia(global uchar4 *out, int width, float re, float im, float step, int limit) {
    int px = get_global_id(0), py = get_global_id(1);
    float x = (px - 8) * step, y = (py - 4) * step;
    int n = 0;
    while (n < limit && x * x + y * y < 4.0f) {
        float t = x * x - y * y + re;
        y = 2.0f * x * y + im;
        x = t;
        n++;
    }
    out[py * width + px] = (uchar4)((uchar)n, (uchar)(n * 7), (uchar)(255 - n), 255);
}
