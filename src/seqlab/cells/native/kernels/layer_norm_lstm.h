// The layer-normalized LSTM: three norms per row, taken where the row is in the cache anyway. The gates are not stored: the way back
// computes them again from the two sums, which it needs for the norms in any case.
#pragma once

#include "activations.h"
#include "scan.h"

#include <cmath>

constexpr auto LAYER_NORM_FORWARD =
    "layer_norm_lstm_forward(Tensor sums, Tensor(b!) products, Tensor recurrent, Tensor input_gain, Tensor shift, Tensor gain, "
    "Tensor cell_gain, Tensor cell_shift, Tensor(c!) hidden, Tensor(d!) cell_state, Tensor(e!) outputs, Tensor(f!) cell_states, "
    "Tensor(h!) moments, float epsilon, int[] sizes, bool reverse) -> ()";
constexpr auto LAYER_NORM_BACKWARD =
    "layer_norm_lstm_backward(Tensor sums, Tensor products, Tensor recurrent, Tensor input_gain, Tensor shift, Tensor gain, Tensor cell_gain, "
    "Tensor cell_shift, Tensor cell_states, Tensor moments, Tensor initial, Tensor d_outputs, Tensor(a!) d_hidden, Tensor(b!) d_cell_state, "
    "Tensor(c!) d_sums, Tensor(d!) d_products, Tensor(e!) d_gains, Tensor(f!) d_cell_gains, int[] sizes, bool reverse) -> ()";

namespace layer_norm {

template <class T>
struct Moments {
  T mean, scale;  // scale: 1 / deviation
};

template <class T>
Moments<T> moments_of(const T* __restrict values, int64_t n, T epsilon) {
  T sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t k = 0; k < n; ++k) sum += values[k];
  const T mean = sum / n;
#pragma omp simd reduction(+ : squares)
  for (int64_t k = 0; k < n; ++k) squares += (values[k] - mean) * (values[k] - mean);
  return {mean, 1 / std::sqrt(squares / n + epsilon)};
}

// From the gradient d of gain * norm(values) to that of the values: scale (gain d - mean(gain d) - norm mean(gain d norm)); the gain's
// gradient, d norm, is added to d_gain.
template <class T, bool add>
void norm_backward(const T* __restrict d, const T* __restrict values, const T* __restrict gain, Moments<T> at, T* __restrict out,
                   T* __restrict d_gain, int64_t n) {
  T mean = 0, along = 0;
#pragma omp simd reduction(+ : mean, along)
  for (int64_t k = 0; k < n; ++k) {
    const T scaled = d[k] * gain[k];
    mean += scaled;
    along += scaled * (values[k] - at.mean);
  }
  mean /= n;
  along *= at.scale / n;
#pragma omp simd
  for (int64_t k = 0; k < n; ++k) {
    const T norm = (values[k] - at.mean) * at.scale, result = at.scale * (d[k] * gain[k] - mean - norm * along);
    d_gain[k] += d[k] * norm;
    out[k] = add ? out[k] + result : result;
  }
}

template <class T>
struct Sum {  // one of the two normalized sums: W x or U h
  const T *__restrict values, *__restrict gain;
  Moments<T> at;
  T operator()(int64_t k) const { return (values[k] - at.mean) * at.scale * gain[k]; }
};

template <class T>
void activate_gates(Sum<T> x, Sum<T> h, const T* __restrict shift, T* __restrict g, int64_t n) {
#pragma omp simd
  for (int64_t k = 0; k < n; ++k) {
    g[k] = sigmoid(x(k) + h(k) + shift[k]);
    g[n + k] = sigmoid(x(n + k) + h(n + k) + shift[n + k]);
    g[2 * n + k] = hyperbolic(x(2 * n + k) + h(2 * n + k) + shift[2 * n + k]);
    g[3 * n + k] = sigmoid(x(3 * n + k) + h(3 * n + k) + shift[3 * n + k]);
  }
}

template <class T>
void cell_forward(const T* __restrict g, T* __restrict c, T* __restrict kept, int64_t n) {
#pragma omp simd
  for (int64_t k = 0; k < n; ++k) c[k] = kept[k] = g[n + k] * c[k] + g[k] * g[2 * n + k];
}

template <class T>
void output_forward(Sum<T> cell_state, const T* __restrict shift, const T* __restrict output_gate, T* __restrict h, T* __restrict out, int64_t n) {
#pragma omp simd
  for (int64_t k = 0; k < n; ++k) h[k] = out[k] = output_gate[k] * hyperbolic(cell_state(k) + shift[k]);
}

template <class T>
void output_backward(Sum<T> cell_state, const T* __restrict shift, const T* __restrict output_gate, const T* __restrict d_out, const T* __restrict d_hidden,
            T* __restrict d_norm, T* __restrict d_output_gate, T* __restrict d_shift, int64_t n) {
#pragma omp simd
  for (int64_t k = 0; k < n; ++k) {
    const T tanh_cell = hyperbolic(cell_state(k) + shift[k]), d_h = d_hidden[k] + d_out[k];
    d_norm[k] = d_h * output_gate[k] * (1 - tanh_cell * tanh_cell);
    d_output_gate[k] = d_h * tanh_cell * output_gate[k] * (1 - output_gate[k]);
    d_shift[k] += d_norm[k];
  }
}

template <class T>
void cell_backward(const T* __restrict g, const T* __restrict before, T* __restrict d_c, T* __restrict d, T* __restrict d_shift, int64_t n) {
#pragma omp simd
  for (int64_t k = 0; k < n; ++k) {
    const T input = g[k], forget = g[n + k], candidate = g[2 * n + k];
    d[k] = d_c[k] * candidate * input * (1 - input);
    d[n + k] = d_c[k] * before[k] * forget * (1 - forget);
    d[2 * n + k] = d_c[k] * input * (1 - candidate * candidate);
    d_c[k] *= forget;
    d_shift[k] += d[k], d_shift[n + k] += d[n + k], d_shift[2 * n + k] += d[2 * n + k], d_shift[3 * n + k] += d[3 * n + k];
  }
}

template <class T>
struct Stored {  // mean and scale of the three norms of every row: (6, rows)
  T* first;
  int64_t total;
  Moments<T> get(int norm, int64_t row) const { return {first[2 * norm * total + row], first[(2 * norm + 1) * total + row]}; }
  void put(int norm, int64_t row, Moments<T> result) const {
    first[2 * norm * total + row] = result.mean, first[(2 * norm + 1) * total + row] = result.scale;
  }
};

using at::Tensor;

template <class T>
struct Scales {  // gain and shift of the two sums (the shift is shared) and of the cell_state
  const T *by_x, *add, *by_h, *by_c, *add_c;
  Scales(const Tensor& input_gain, const Tensor& shift, const Tensor& gain, const Tensor& cell_gain, const Tensor& cell_shift, int64_t n)
      : by_x(Rows<T>(input_gain, "input_gain", {4 * n})[0]),
        add(Rows<T>(shift, "shift", {4 * n})[0]),
        by_h(Rows<T>(gain, "gain", {4 * n})[0]),
        by_c(Rows<T>(cell_gain, "cell_gain", {n})[0]),
        add_c(Rows<T>(cell_shift, "cell_shift", {n})[0]) {}
};

template <class T>
void forward_steps(const Tensor& sums, const Tensor& products, const Tensor& recurrent, const Tensor& input_gain,
                   const Tensor& shift, const Tensor& gain, const Tensor& cell_gain, const Tensor& cell_shift, const Tensor& hidden,
                   const Tensor& cell_state, const Tensor& outputs, const Tensor& cell_states, const Tensor& moments, double epsilon, const StepLayout& layout) {
  const int64_t n = width_of(hidden, "hidden", 4), rows = layout.rows(), batch = layout.batch();
  check<T>(recurrent, "recurrent", {4 * n, n});
  const Tensor turned = recurrent.t().contiguous();
  const Rows<T> sum(sums, "sums", {rows, 4 * n}), inner(products, "products", {rows, 4 * n}), weight(turned, "recurrent", {n, 4 * n}),
      state(hidden, "hidden", {batch, n}), cell(cell_state, "cell_state", {batch, n}), output(outputs, "outputs", {rows, n}),
      kept(cell_states, "cell_states", {rows, n});
  const Scales<T> scale(input_gain, shift, gain, cell_gain, cell_shift, n);
  const Stored<T> stored{Rows<T>(moments, "moments", {6, rows})[0], rows};
  layout.scan(
      false, [&](int64_t, int64_t) { return std::vector<T>(4 * n); },
      [&](std::vector<T>& gates, int64_t t, int64_t low, int64_t live) {
        T* gate = gates.data();
        product<T>(live, 4 * n, n, state[low], n, weight[0], 4 * n, false, inner[layout.starts[t] + low], 4 * n, 0);
        for (int64_t j = low; j < low + live; ++j) {
          const int64_t at = layout.starts[t] + j;
          const auto of_x = moments_of<T>(sum[at], 4 * n, epsilon), of_h = moments_of<T>(inner[at], 4 * n, epsilon);
          activate_gates(Sum<T>{sum[at], scale.by_x, of_x}, Sum<T>{inner[at], scale.by_h, of_h}, scale.add, gate, n);
          cell_forward(gate, cell[j], kept[at], n);
          const auto of_c = moments_of<T>(kept[at], n, epsilon);
          output_forward(Sum<T>{kept[at], scale.by_c, of_c}, scale.add_c, gate + 3 * n, state[j], output[at], n);
          stored.put(0, at, of_x), stored.put(1, at, of_h), stored.put(2, at, of_c);
        }
      });
}

// What one thread sums up for the gains and shifts, and its row of gradients that nobody else needs.
template <class T>
struct Share {
  std::vector<T> values;
  int64_t n;
  explicit Share(int64_t n) : values(23 * n), n(n) {}
  T* d_gates() { return values.data(); }             // 4 n
  T* d_norm() { return values.data() + 4 * n; }      // n
  T* gains() { return values.data() + 5 * n; }       // input gain, recurrent gain, shift: 4 n each
  T* cell_gains() { return values.data() + 17 * n; }  // gain, shift: n each
  T* gates() { return values.data() + 19 * n; }      // 4 n
};

template <class T>
void backward_steps(const Tensor& sums, const Tensor& products, const Tensor& recurrent, const Tensor& input_gain, const Tensor& shift,
                    const Tensor& gain, const Tensor& cell_gain, const Tensor& cell_shift, const Tensor& cell_states, const Tensor& moments,
                    const Tensor& initial, const Tensor& d_outputs, const Tensor& d_hidden, const Tensor& d_cell_state, const Tensor& d_sums,
                    const Tensor& d_products, const Tensor& d_gains, const Tensor& d_cell_gains, const StepLayout& layout) {
  const int64_t n = width_of(d_hidden, "d_hidden", 4), rows = layout.rows(), batch = layout.batch();
  const Rows<T> sum(sums, "sums", {rows, 4 * n}), inner(products, "products", {rows, 4 * n}), weight(recurrent, "recurrent", {4 * n, n}),
      kept(cell_states, "cell_states", {rows, n}), first(initial, "initial", {batch, n}), d_output(d_outputs, "d_outputs", {rows, n}),
      d_state(d_hidden, "d_hidden", {batch, n}), d_cell(d_cell_state, "d_cell_state", {batch, n}), d_sum(d_sums, "d_sums", {rows, 4 * n}),
      d_inner(d_products, "d_products", {rows, 4 * n}), sum_of_gains(d_gains, "d_gains", {3, 4 * n}),
      sum_of_cell_gains(d_cell_gains, "d_cell_gains", {2, n});
  const Scales<T> scale(input_gain, shift, gain, cell_gain, cell_shift, n);
  const Stored<T> stored{Rows<T>(moments, "moments", {6, rows})[0], rows};
  std::vector<Share<T>> shares(layout.shares().size() - 1, Share<T>(n));
  layout.scan(
      true, [&](int64_t part, int64_t) { return &shares[part]; },
      [&](Share<T>* own, int64_t t, int64_t low, int64_t live) {
        T *gate = own->gates(), *d = own->d_gates(), *gains = own->gains(), *cell_gains = own->cell_gains();
        for (int64_t j = low; j < low + live; ++j) {
          const int64_t at = layout.starts[t] + j, before = layout.before(t, j);
          activate_gates(Sum<T>{sum[at], scale.by_x, stored.get(0, at)}, Sum<T>{inner[at], scale.by_h, stored.get(1, at)}, scale.add, gate, n);
          output_backward(Sum<T>{kept[at], scale.by_c, stored.get(2, at)}, scale.add_c, gate + 3 * n, d_output[at], d_state[j], own->d_norm(), d + 3 * n,
                 cell_gains + n, n);
          norm_backward<T, true>(own->d_norm(), kept[at], scale.by_c, stored.get(2, at), d_cell[j], cell_gains, n);
          cell_backward(gate, before < 0 ? first[j] : kept[before], d_cell[j], d, gains + 8 * n, n);
          norm_backward<T, false>(d, sum[at], scale.by_x, stored.get(0, at), d_sum[at], gains, 4 * n);
          norm_backward<T, false>(d, inner[at], scale.by_h, stored.get(1, at), d_inner[at], gains + 4 * n, 4 * n);
        }
        product<T>(live, n, 4 * n, d_inner[layout.starts[t] + low], 4 * n, weight[0], n, false, d_state[low], n, 0);
      });
  T *all_gains = sum_of_gains[0], *all_cell_gains = sum_of_cell_gains[0];
  for (auto& own : shares) {
    for (int64_t k = 0; k < 12 * n; ++k) all_gains[k] += own.gains()[k];
    for (int64_t k = 0; k < 2 * n; ++k) all_cell_gains[k] += own.cell_gains()[k];
  }
}

inline void forward(const Tensor& sums, const Tensor& products, const Tensor& recurrent, const Tensor& input_gain, const Tensor& shift,
                    const Tensor& gain, const Tensor& cell_gain, const Tensor& cell_shift, const Tensor& hidden, const Tensor& cell_state,
                    const Tensor& outputs, const Tensor& cell_states, const Tensor& moments, double epsilon, at::IntArrayRef sizes, bool reverse) {
  const auto steps = is_single(sums, "sums") ? &forward_steps<float> : &forward_steps<double>;
  steps(sums, products, recurrent, input_gain, shift, gain, cell_gain, cell_shift, hidden, cell_state, outputs, cell_states, moments, epsilon,
        StepLayout(sizes, reverse));
}

inline void backward(const Tensor& sums, const Tensor& products, const Tensor& recurrent, const Tensor& input_gain, const Tensor& shift,
                     const Tensor& gain, const Tensor& cell_gain, const Tensor& cell_shift, const Tensor& cell_states, const Tensor& moments,
                     const Tensor& initial, const Tensor& d_outputs, const Tensor& d_hidden, const Tensor& d_cell_state, const Tensor& d_sums,
                     const Tensor& d_products, const Tensor& d_gains, const Tensor& d_cell_gains, at::IntArrayRef sizes, bool reverse) {
  const auto steps = is_single(sums, "sums") ? &backward_steps<float> : &backward_steps<double>;
  steps(sums, products, recurrent, input_gain, shift, gain, cell_gain, cell_shift, cell_states, moments, initial, d_outputs, d_hidden, d_cell_state,
        d_sums, d_products, d_gains, d_cell_gains, StepLayout(sizes, reverse));
}

}  // namespace layer_norm
