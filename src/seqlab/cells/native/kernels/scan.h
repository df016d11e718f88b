// One scan over packed rows: which rows are live at which step, who works on them, and the product that every step begins with.
#pragma once

#include "rows.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

extern "C" {
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*, const float*, const int*,
            const float*, float*, const int*);
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*, const double*, const int*,
            const double*, double*, const int*);
int MKL_Set_Num_Threads_Local(int) __attribute__((weak));
}

// While it lives, products of this thread stay in this thread: MKL would else ask for helpers that its neighbors need.
struct Alone {
  int before = MKL_Set_Num_Threads_Local ? MKL_Set_Num_Threads_Local(1) : 0;
  Alone() = default;
  Alone(const Alone&) = delete;
  ~Alone() {
    if (MKL_Set_Num_Threads_Local) MKL_Set_Num_Threads_Local(before);
  }
};

// out (rows, columns) = scale * out + left (rows, inner) right, where right is (inner, columns), or (columns, inner) when transposed.
template <class T>
void product(int64_t rows, int64_t columns, int64_t inner, const T* left, int64_t left_stride, const T* right, int64_t right_stride,
             bool transposed, T* out, int64_t out_stride, T scale) {
  const char flip = transposed ? 'T' : 'N', keep = 'N';  // BLAS thinks in columns: out^T = right^T left^T
  const int m = columns, n = rows, k = inner, lda = right_stride, ldb = left_stride, ldc = out_stride;
  const T one = 1;
  if constexpr (std::is_same_v<T, float>) {
    sgemm_(&flip, &keep, &m, &n, &k, &one, right, &lda, left, &ldb, &scale, out, &ldc);
  } else {
    dgemm_(&flip, &keep, &m, &n, &k, &one, right, &lda, left, &ldb, &scale, out, &ldc);
  }
}

struct StepLayout {
  std::vector<int64_t> sizes, starts;
  bool reverse;

  StepLayout(at::IntArrayRef live, bool reverse) : sizes(live.begin(), live.end()), starts(live.size()), reverse(reverse) {
    TORCH_CHECK(!sizes.empty(), "recurrent kernel: sizes is empty");
    TORCH_CHECK(sizes[0] <= std::numeric_limits<int>::max() && sizes.back() >= 0, "recurrent kernel: sizes must be from 0 to 2^31 - 1, got ", live);
    for (size_t t = 1; t < sizes.size(); ++t) {
      TORCH_CHECK(sizes[t] <= sizes[t - 1], "recurrent kernel: sizes must not increase, got ", live);
      starts[t] = starts[t - 1] + sizes[t - 1];
    }
  }

  int64_t length() const { return static_cast<int64_t>(sizes.size()); }
  int64_t batch() const { return sizes[0]; }
  int64_t rows() const { return starts.back() + sizes.back(); }

  // The packed row before row j of step t, or -1 where the initial state comes before it.
  int64_t before(int64_t t, int64_t j) const {
    const int64_t other = reverse ? t + 1 : t - 1;
    return other < 0 || other >= length() || j >= sizes[other] ? -1 : starts[other] + j;
  }

  // Sequences split among the threads so that each has about the same number of steps; sequences never wait for each other.
  std::vector<int64_t> shares() const {
    constexpr int64_t fewest = 16;  // with fewer sequences in a product, two threads do better by sharing each product
    const int64_t batch = sizes[0], parts = std::max<int64_t>(1, std::min<int64_t>(at::get_num_threads(), batch / fewest));
    std::vector<int64_t> lengths(batch, 0), borders{0};
    int64_t total = 0, seen = 0;
    for (int64_t live : sizes) {
      total += live;
      for (int64_t j = 0; j < live; ++j) ++lengths[j];
    }
    for (int64_t j = 0; j < batch; ++j) {
      seen += lengths[j];
      if (seen * parts >= total * static_cast<int64_t>(borders.size()) && static_cast<int64_t>(borders.size()) < parts) borders.push_back(j + 1);
    }
    borders.push_back(batch);
    return borders;
  }

  // Calls work(scratch, t, first sequence, live sequences) for every step of every thread's share, in scanning order or against it;
  // scratch is what start(number of the share, its sequences) gave.
  template <class Start, class Work>
  void scan(bool against, const Start& start, const Work& work) const {
    const auto borders = shares();
    at::parallel_for(0, static_cast<int64_t>(borders.size()) - 1, 1, [&](int64_t begin, int64_t end) {
      const std::optional<Alone> alone = borders.size() > 2 ? std::optional<Alone>(std::in_place) : std::nullopt;
      for (int64_t part = begin; part < end; ++part) {
        const int64_t low = borders[part], high = borders[part + 1];
        auto scratch = start(part, high - low);
        for (int64_t i = 0; i < length(); ++i) {
          const int64_t t = reverse != against ? length() - 1 - i : i;
          const int64_t live = std::min(sizes[t], high) - low;
          if (live > 0) work(scratch, t, low, live);
        }
      }
    });
  }
};
