// Functions with a stack: two that call each other, one that calls itself twice.
int down(int n, int k);
__attribute__((noinline)) int up(int n, int k) {
    return n <= 0 ? k : down(n - 1, k + n);
}
__attribute__((noinline)) int down(int n, int k) {
    return n <= 0 ? -k : up(n - 2, k * 3 - n);
}
__attribute__((noinline)) int steps(int n) {
    return n < 2 ? n + 1 : steps(n - 1) + steps(n - 2);
}
kernel void climb(global int *out) {
    int i = get_global_id(0);
    out[i] = up(i & 7, i) + steps(i & 3);
}
