// How SYCL libraries write vISA, and what stands beside it: assembly of other processors, macros, templates. No mistake in it.
#include <cstdint>
#include <sycl/sycl.hpp>

#if defined(__SYCL_DEVICE_ONLY__)
#define ON_DEVICE(...) __VA_ARGS__
#else
#define ON_DEVICE(...)
#endif
#define XETLA_MARKER(message) [[deprecated(message)]]
#define FENCE(kind, scope) asm volatile("lsc_fence." kind "." scope ".group" ::: "memory")
#define LOAD(type, cache) \
  asm volatile("lsc_load.ugm." cache " (M1, 16) %0:" type " flat[%1]:a64" : "=rw"(value) : "rw"(address))

namespace other_processors {
inline std::uint64_t cycles() {
  std::uint32_t low, high;
  asm volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high)::"%rcx", "memory");
  asm("cpuid" : "+a"(low), "=b"(high) : "c"(0) : "edx");
  asm volatile("add %w0, %w0, #1\n" : "+r"(low));
  asm volatile("mov.u32 %0, %%smid;" : "=r"(low));
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1}, {%2}, {%3}, {%0, %1};\n" : "+f"(a), "+f"(b) : "r"(low), "r"(high));
  asm volatile("s_waitcnt vmcnt(0) & lgkmcnt(0)\n s_barrier");
  asm volatile("ld1 {v0.16b}, [%[in]], #16\n add v0.4s, v0.4s, v1.4s" : [in] "+r"(p) : : "v0", "v1");
  asm volatile("" : "+m"(low) : : "memory");
  asm(".global entry\nentry: mov %eax, %ebx\n ret");
  return (std::uint64_t(high) << 32) | low;
}
}  // namespace other_processors

template <int Rows, typename Float = float>
struct Tile {
  sycl::marray<Float, Rows> data;

  void scale(Float by) [[intel::reqd_sub_group_size(16)]] {
    Float first = data[0];
    ON_DEVICE(asm volatile("mul (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> %1(0,0)<1;1,0>\n" : "+rw"(first) : "rw"(by)));
    data[0] = first;
  }
};

template <typename T>
T reduce(sycl::nd_item<1> item, T x) {
  if constexpr (sizeof(T) == 4) {
    asm volatile(R"VISA({
      .decl half_sum v_type=G type=f num_elts=8 align=GRF
      add (M1_NM, 8) half_sum(0,0)<1> %[in](0,0)<1;1,0> %[in](1,0)<1;1,0>
      add (M1_NM, 4) half_sum(0,0)<1> half_sum(0,0)<1;1,0> half_sum(0,4)<1;1,0>
      mov (M1_NM, 1) %[in](0,0)<1> half_sum(0,0)<0;1,0>
    })VISA" : [in] "+rw"(x));
  }
  return x;
}

inline void prefetch(const void *address) {
  asm volatile("lsc_load.ugm.ca.ca (M1, 1) %%null:d32x64t flat[%0]:a64" ::"rw.u"(address));
}

class Kernel {
 public:
  void operator()(sycl::nd_item<1> item) const [[sycl::reqd_sub_group_size(16)]] {
    std::uint32_t value;
    const std::uint32_t *address = in + item.get_global_linear_id();
    LOAD("d32", "ca.ca");
    FENCE("ugm", "none");
    auto doubled = value * 2;
    asm volatile("add (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0> %2(0,0)<1;1,0>" : "=rw"(value) : "rw"(doubled), "rw"(static_cast<int>(value)));
    sycl::vec<sycl::half, 8> rows;
    sycl::vec<int, 8> columns;
    sycl::vec<float, 8> sum{0};
    asm volatile("{\n"
                 ".decl a v_type=G type=ud num_elts=64 align=GRF alias=<%[rows],0>\n"
                 ".decl b v_type=G type=ud num_elts=128 align=GRF alias=<%[columns],0>\n"
                 "dpas.hf.hf.8.8 (M1, 16) %[sum].0 %[sum].0 b.0 a(0,0)\n"
                 "}\n"
                 : [sum] "+rw"(sum)
                 : [rows] "rw"(rows), [columns] "rw"(columns));
    out[item.get_global_linear_id()] = value + static_cast<std::uint32_t>(sum[0]);
  }

 private:
  const std::uint32_t *in = nullptr;
  std::uint32_t *out = nullptr;
};

namespace esimd_style {
namespace esimd = sycl::ext::intel::esimd;

template <typename T, int N>
ESIMD_INLINE esimd::simd<T, N> add(esimd::simd<T, N> a, esimd::simd<T, N> b) {
  esimd::simd<T, N> result;
  asm("add (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0> %2(0,0)<1;1,0>" : "=rw"(result.data()) : "rw"(a.data()), "rw"(b.data()));
  return result;
}

extern "C" SYCL_EXTERNAL void wait_for(int count) {
  asm volatile("nbarrier.wait %0(0,0)<0;1,0>" ::"rw.u"(static_cast<std::uint8_t>(count)));
}
}  // namespace esimd_style

auto lambda = [](float *data) {
  float x = *data;
  asm volatile("// counts: \\n is no line end here, \"quoted\", tab:\t.\n"
               "inv (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0>" : "+rw"(x));
  *data = x;
};

std::string kernel_text(int simd, const char *type) {
  std::ostringstream out;
  // visa: asm
  out << "mov (M1, 16) $0(0,0)<1> 0x0:d\n"
         "add (M1, 16) $0(0,0)<1> $0(0,0)<1;1,0> 0x1:d\n";
  /* visa: asm */ const char *raw = R"(
    mov (M1_NM, 1) $0(0,0)<1> %tsc(0,0)<0;1,0>
  )";
  // visa: asm
  out << fmt(u8"add (M1, %d) $1(0,0)<1> $1(0,0)<1;1,0> 0x1:%s\n", simd, type);
  return out.str() + raw;
}
