// SYCL kernels with inline vISA, beside assembly of the host's own processor that is no concern of ours.
#include <sycl/sycl.hpp>

static inline unsigned long ticks() {
  unsigned lo, hi;
  asm volatile("rdtsc" : "=a"(lo), "=d"(hi));
  asm volatile("" ::: "memory");
  __asm__("mov %%eax, %0\n\tadd $1, %0" : "=r"(lo) : "0"(lo) : "cc");
  return (static_cast<unsigned long>(hi) << 32) | lo;
}

template <typename T, int N>
void scale(sycl::queue &queue, T *data, T factor) {
  queue.parallel_for(sycl::nd_range<1>(N, 16), [=](sycl::nd_item<1> item) [[sycl::reqd_sub_group_size(16)]] {
    const int i = item.get_global_id(0);
    T value = data[i];
    float plain = 1.0f;
    sycl::vec<float, 8> block;
#if defined(__SYCL_DEVICE_ONLY__)
    asm volatile("mul (M1, 16) %0(0, 0)<1> %0(0, 0)<1;1,0> %1(0, 0)<1;1,0>" : "+rw"(value) : "rw"(factor));
    asm volatile(R"({
      .decl doubled v_type=G type=f num_elts=16 align=GRF
      add (M1, 16) doubled(0,0)<1> %[plain](0,0)<1;1,0> %[plain](0,0)<1;1,0>
      mov (M1, 16) %[plain](0,0)<1> doubled(0,0)<1;1,0>
      mov (M1, 16) %[block](14,0)<1> doubled(0,0)<1;1,0>
    })"
                 : [plain] "+rw"(plain), [block] "+rw"(block));
    asm volatile("lsc_store.ugm.wb.wb (M1, 16) flat[%0]:a64 %1:d32x8" : : "rw"(&data[i]), "rw"(block));
#endif
    data[i] = value;
  });
}

// visa: asm
static const char *generated = R"(
.decl t v_type=G type=d num_elts=16 align=GRF
mov (M1, 16) t(0,0)<1> $0(0,0)<1;1,0>
add (M1, 16) t(0,0)<1> t(0,0)<1;1,0> 0x1:d
)";

std::string generate(int lanes) {
  char out[256];
  // visa: asm
  std::snprintf(out, sizeof out, "add (M1, %d) $1(0,0)<1> $1(0,0)<1;1,0> 0x1:w\n"
                                 "mov (M1_NM, 1) $1(0,0)<1> 0x0:d\n", lanes);
  return out;
}
