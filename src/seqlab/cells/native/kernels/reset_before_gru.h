// The original GRU: two products per step, since the reset gate acts on the state before the second one.
#pragma once

#include "activations.h"
#include "scan.h"

constexpr auto RESET_BEFORE_FORWARD =
    "reset_before_gru_forward(Tensor(a!) gates, Tensor recurrent, Tensor(b!) hidden, Tensor(c!) outputs, int[] sizes, bool reverse) -> ()";
constexpr auto RESET_BEFORE_BACKWARD =
    "reset_before_gru_backward(Tensor gates, Tensor recurrent, Tensor outputs, Tensor initial, Tensor d_outputs, Tensor(a!) d_hidden, "
    "Tensor(b!) gradient, int[] sizes, bool reverse) -> ()";

namespace reset_before {

template <class T>
void reset_forward(T* __restrict g, const T* __restrict p, const T* __restrict h, T* __restrict scaled, int64_t n) {
#pragma omp simd
  for (int64_t k = 0; k < n; ++k) {
    const T reset = sigmoid(g[k] + p[k]);
    g[k] = reset, g[n + k] = sigmoid(g[n + k] + p[n + k]);
    scaled[k] = reset * h[k];
  }
}

template <class T>
void update_forward(T* __restrict g, const T* __restrict p, T* __restrict h, T* __restrict out, int64_t n) {
#pragma omp simd
  for (int64_t k = 0; k < n; ++k) {
    const T candidate = hyperbolic(g[2 * n + k] + p[k]);
    g[2 * n + k] = candidate;
    h[k] = out[k] = candidate + g[n + k] * (h[k] - candidate);
  }
}

template <class T>
void update_backward(const T* __restrict g, const T* __restrict before, const T* __restrict d_out, T* __restrict d_hidden, T* __restrict d, int64_t n) {
#pragma omp simd
  for (int64_t k = 0; k < n; ++k) {
    const T update = g[n + k], candidate = g[2 * n + k], d_h = d_hidden[k] + d_out[k];
    d[n + k] = d_h * (before[k] - candidate) * update * (1 - update);
    d[2 * n + k] = d_h * (1 - update) * (1 - candidate * candidate);
    d_hidden[k] = d_h * update;
  }
}

template <class T>
void reset_backward(const T* __restrict g, const T* __restrict before, const T* __restrict d_scaled, T* __restrict d_hidden, T* __restrict d, int64_t n) {
#pragma omp simd
  for (int64_t k = 0; k < n; ++k) {
    const T reset = g[k];
    d[k] = d_scaled[k] * before[k] * reset * (1 - reset);
    d_hidden[k] += d_scaled[k] * reset;
  }
}

template <class T>
void forward_steps(const at::Tensor& gates, const at::Tensor& recurrent, const at::Tensor& hidden, const at::Tensor& outputs, const StepLayout& layout) {
  const int64_t n = width_of(hidden, "hidden", 3), rows = layout.rows();
  const Rows<T> gate(gates, "gates", {rows, 3 * n}), weight(recurrent, "recurrent", {3 * n, n}), state(hidden, "hidden", {layout.batch(), n}),
      output(outputs, "outputs", {rows, n});
  layout.scan(
      false, [&](int64_t, int64_t share) { return std::vector<T>(share * 3 * n); },
      [&](std::vector<T>& scratch, int64_t t, int64_t low, int64_t live) {
        T *products = scratch.data(), *scaled = products + live * 2 * n;
        product<T>(live, 2 * n, n, state[low], n, weight[0], n, true, products, 2 * n, 0);
        for (int64_t j = 0; j < live; ++j) reset_forward(gate[layout.starts[t] + low + j], products + j * 2 * n, state[low + j], scaled + j * n, n);
        product<T>(live, n, n, scaled, n, weight[2 * n], n, true, products, n, 0);
        for (int64_t j = 0; j < live; ++j) {
          const int64_t at = layout.starts[t] + low + j;
          update_forward(gate[at], products + j * n, state[low + j], output[at], n);
        }
      });
}

template <class T>
void backward_steps(const at::Tensor& gates, const at::Tensor& recurrent, const at::Tensor& outputs, const at::Tensor& initial,
                    const at::Tensor& d_outputs, const at::Tensor& d_hidden, const at::Tensor& gradient, const StepLayout& layout) {
  const int64_t n = width_of(d_hidden, "d_hidden", 3), rows = layout.rows();
  const Rows<T> gate(gates, "gates", {rows, 3 * n}), weight(recurrent, "recurrent", {3 * n, n}), output(outputs, "outputs", {rows, n}),
      first(initial, "initial", {layout.batch(), n}), d_output(d_outputs, "d_outputs", {rows, n}), d_state(d_hidden, "d_hidden", {layout.batch(), n}),
      d_gate(gradient, "gradient", {rows, 3 * n});
  layout.scan(
      true, [&](int64_t, int64_t share) { return std::vector<T>(share * n); },
      [&](std::vector<T>& d_scaled, int64_t t, int64_t low, int64_t live) {
        const auto before = [&](int64_t j) {
          const int64_t row = layout.before(t, j);
          return row < 0 ? first[j] : output[row];
        };
        const int64_t begin = layout.starts[t];
        for (int64_t j = low; j < low + live; ++j) update_backward(gate[begin + j], before(j), d_output[begin + j], d_state[j], d_gate[begin + j], n);
        product<T>(live, n, n, d_gate[begin + low] + 2 * n, 3 * n, weight[2 * n], n, false, d_scaled.data(), n, 0);
        for (int64_t j = low; j < low + live; ++j) reset_backward(gate[begin + j], before(j), d_scaled.data() + (j - low) * n, d_state[j], d_gate[begin + j], n);
        product<T>(live, n, 2 * n, d_gate[begin + low], 3 * n, weight[0], n, false, d_state[low], n, 1);
      });
}

inline void forward(const at::Tensor& gates, const at::Tensor& recurrent, const at::Tensor& hidden, const at::Tensor& outputs, at::IntArrayRef sizes,
                    bool reverse) {
  const auto steps = is_single(gates, "gates") ? &forward_steps<float> : &forward_steps<double>;
  steps(gates, recurrent, hidden, outputs, StepLayout(sizes, reverse));
}

inline void backward(const at::Tensor& gates, const at::Tensor& recurrent, const at::Tensor& outputs, const at::Tensor& initial,
                     const at::Tensor& d_outputs, const at::Tensor& d_hidden, const at::Tensor& gradient, at::IntArrayRef sizes, bool reverse) {
  const auto steps = is_single(gates, "gates") ? &backward_steps<float> : &backward_steps<double>;
  steps(gates, recurrent, outputs, initial, d_outputs, d_hidden, gradient, StepLayout(sizes, reverse));
}

}  // namespace reset_before
