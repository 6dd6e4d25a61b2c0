// fault: race: if (other > i) -> if (other != i)
// open: bounds
kernel void bitonic_sort(global int *keys, int stage, int step) {
    int i = get_global_id(0);
    int other = i ^ (1 << step);
    if (other > i) {
        int a = keys[i], b = keys[other];
        int up = (i & (1 << stage)) == 0;
        if ((a > b) == up) {
            keys[i] = b;
            keys[other] = a;
        }
    }
}
