// A right kernel, whose host starts a work item for each element: rows are compared with the last one.
kernel void last_row(global const float *a, global float *o, int w, int h) {
    int x = get_global_id(0), y = get_global_id(1), i = y * w + x;
    int below = y == h - 1 ? i : i + w;
    o[i] = a[below];
}
