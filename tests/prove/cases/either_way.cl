// A right kernel: which of two stores a work item makes says nothing about how many there are.
typedef float number;
kernel void either_way(global int *mark, global number *cost, int source) {
    int i = get_global_id(0);
    if (i == source) {
        mark[i] = 1;
        cost[i] = 0.0f;
    } else {
        mark[i] = 0;
        cost[i] = 9.0f;
    }
}
