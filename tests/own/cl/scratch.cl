// Arrays of one work item, indexed by what only the run knows.
kernel void deque(global const int *in, global int *out, int n) {
    int i = get_global_id(0), ring[12], head = 0, size = 0, sum = 0;
    for (int k = 0; k < 12; k++) ring[k] = i;
    for (int k = 0; k < n; k++) {
        int v = in[(k + i) % n];
        if (v >= 0 && size < 12) ring[(head + size++) % 12] = v;
        else if (size) {
            sum = sum * 3 + ring[head];
            head = (head + 1) % 12;
            size--;
        }
    }
    out[i] = sum ^ size;
}
