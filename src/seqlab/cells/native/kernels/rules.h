// The gated cells whose step is one product and one pass over a row. The equations stand in the Python files of the cells.
#pragma once

#include "activations.h"

#include <cstdint>

template <class T>
struct Row {                           // one sequence at one step, forward
  T* gates;                            // W x, left activated
  const T *product, *shift;            // U hidden, and b
  T *hidden, *cell_state, *output, *kept;  // kept: what backward needs beside the gates (the cell_state, or the product inside the candidate)
  const T* extra;                      // peepholes (3, n), or the recurrent bias (n)
};

template <class T>
struct BackRow {                                   // one sequence at one step, backward
  const T *gates, *kept, *before, *d_output;       // before: the cell_state, or the hidden state, that this step began with
  T *d_hidden, *d_cell_state, *gradient, *d_candidate; // gradient: of U hidden; d_candidate: where that of W x differs
  T* d_shift;                                      // summed over all rows
  const T* extra;
};

// A rule declares which optional tensors it uses: a cell_state; what backward needs beside the gates (`keeps`); a bias inside the candidate, whose
// gradient then differs from that of W x; peepholes. The others are null.
//
// Peepholes: 0 none, 1 the output gate sees the cell_state before the step, 2 it sees the new one.
template <int peeps>
struct LSTM {
  static constexpr int gates = 4;
  static constexpr bool has_cell_state = true, keeps = true, has_inner_bias = false, peepholes = peeps > 0;
  static constexpr bool keeps_hidden = false;
  template <class T>
  static void forward(const Row<T>& row, int64_t n) {
    T *__restrict g = row.gates, *__restrict h = row.hidden, *__restrict c = row.cell_state, *__restrict out = row.output, *__restrict kept = row.kept;
    const T *__restrict p = row.product, *__restrict b = row.shift, *__restrict peep = row.extra;
#pragma omp simd
    for (int64_t k = 0; k < n; ++k) {
      T input_sum = g[k] + p[k] + b[k], forget_sum = g[n + k] + p[n + k] + b[n + k], output_sum = g[3 * n + k] + p[3 * n + k] + b[3 * n + k];
      if constexpr (peeps > 0) input_sum += c[k] * peep[k], forget_sum += c[k] * peep[n + k];
      if constexpr (peeps == 1) output_sum += c[k] * peep[2 * n + k];
      const T input = sigmoid(input_sum), forget = sigmoid(forget_sum), candidate = hyperbolic(g[2 * n + k] + p[2 * n + k] + b[2 * n + k]);
      const T cell_state = forget * c[k] + input * candidate;
      if constexpr (peeps == 2) output_sum += cell_state * peep[2 * n + k];
      const T output = sigmoid(output_sum);
      g[k] = input, g[n + k] = forget, g[2 * n + k] = candidate, g[3 * n + k] = output;
      c[k] = kept[k] = cell_state;
      h[k] = out[k] = output * hyperbolic(cell_state);
    }
  }
  template <class T>
  static void backward(const BackRow<T>& row, int64_t n) {
    const T *__restrict g = row.gates, *__restrict kept = row.kept, *__restrict before = row.before, *__restrict d_out = row.d_output;
    const T* __restrict peep = row.extra;
    T *__restrict d_hidden = row.d_hidden, *__restrict d_cell_state = row.d_cell_state, *__restrict d = row.gradient, *__restrict d_b = row.d_shift;
#pragma omp simd
    for (int64_t k = 0; k < n; ++k) {
      const T input = g[k], forget = g[n + k], candidate = g[2 * n + k], output = g[3 * n + k];
      const T tanh_cell = hyperbolic(kept[k]), d_h = d_hidden[k] + d_out[k];
      const T d_output_gate = d_h * tanh_cell * output * (1 - output);
      T d_c = d_cell_state[k] + d_h * output * (1 - tanh_cell * tanh_cell);
      if constexpr (peeps == 2) d_c += d_output_gate * peep[2 * n + k];
      const T d_input = d_c * candidate * input * (1 - input), d_forget = d_c * before[k] * forget * (1 - forget);
      const T d_candidate = d_c * input * (1 - candidate * candidate);
      d[k] = d_input, d[n + k] = d_forget, d[2 * n + k] = d_candidate, d[3 * n + k] = d_output_gate;
      d_b[k] += d_input, d_b[n + k] += d_forget, d_b[2 * n + k] += d_candidate, d_b[3 * n + k] += d_output_gate;
      T back = d_c * forget;
      if constexpr (peeps > 0) back += d_input * peep[k] + d_forget * peep[n + k];
      if constexpr (peeps == 1) back += d_output_gate * peep[2 * n + k];
      d_cell_state[k] = back;
    }
  }
};

struct CoupledLSTM {
  static constexpr int gates = 3;
  static constexpr bool has_cell_state = true, keeps = true, has_inner_bias = false, peepholes = false;
  static constexpr bool keeps_hidden = false;
  template <class T>
  static void forward(const Row<T>& row, int64_t n) {
    T *__restrict g = row.gates, *__restrict h = row.hidden, *__restrict c = row.cell_state, *__restrict out = row.output, *__restrict kept = row.kept;
    const T *__restrict p = row.product, *__restrict b = row.shift;
#pragma omp simd
    for (int64_t k = 0; k < n; ++k) {
      const T forget = sigmoid(g[k] + p[k] + b[k]), candidate = hyperbolic(g[n + k] + p[n + k] + b[n + k]);
      const T output = sigmoid(g[2 * n + k] + p[2 * n + k] + b[2 * n + k]);
      const T cell_state = candidate + forget * (c[k] - candidate);
      g[k] = forget, g[n + k] = candidate, g[2 * n + k] = output;
      c[k] = kept[k] = cell_state;
      h[k] = out[k] = output * hyperbolic(cell_state);
    }
  }
  template <class T>
  static void backward(const BackRow<T>& row, int64_t n) {
    const T *__restrict g = row.gates, *__restrict kept = row.kept, *__restrict before = row.before, *__restrict d_out = row.d_output;
    T *__restrict d_hidden = row.d_hidden, *__restrict d_cell_state = row.d_cell_state, *__restrict d = row.gradient, *__restrict d_b = row.d_shift;
#pragma omp simd
    for (int64_t k = 0; k < n; ++k) {
      const T forget = g[k], candidate = g[n + k], output = g[2 * n + k];
      const T tanh_cell = hyperbolic(kept[k]), d_h = d_hidden[k] + d_out[k];
      const T d_c = d_cell_state[k] + d_h * output * (1 - tanh_cell * tanh_cell);
      d[k] = d_c * (before[k] - candidate) * forget * (1 - forget);
      d[n + k] = d_c * (1 - forget) * (1 - candidate * candidate);
      d[2 * n + k] = d_h * tanh_cell * output * (1 - output);
      d_b[k] += d[k], d_b[n + k] += d[n + k], d_b[2 * n + k] += d[2 * n + k];
      d_cell_state[k] = d_c * forget;
    }
  }
};

struct GRU {  // torch's: the reset gate acts after the product; the update gate keeps the old state
  static constexpr int gates = 3;
  static constexpr bool has_cell_state = false, keeps = true, has_inner_bias = true, peepholes = false;
  static constexpr bool keeps_hidden = true;
  template <class T>
  static void forward(const Row<T>& row, int64_t n) {
    T *__restrict g = row.gates, *__restrict h = row.hidden, *__restrict out = row.output, *__restrict kept = row.kept;
    const T *__restrict p = row.product, *__restrict b = row.shift, *__restrict inner_b = row.extra;
#pragma omp simd
    for (int64_t k = 0; k < n; ++k) {
      const T reset = sigmoid(g[k] + p[k] + b[k]), update = sigmoid(g[n + k] + p[n + k] + b[n + k]), inner = p[2 * n + k] + inner_b[k];
      const T candidate = hyperbolic(g[2 * n + k] + b[2 * n + k] + reset * inner);
      g[k] = reset, g[n + k] = update, g[2 * n + k] = candidate, kept[k] = inner;
      h[k] = out[k] = candidate + update * (h[k] - candidate);
    }
  }
  template <class T>
  static void backward(const BackRow<T>& row, int64_t n) {
    const T *__restrict g = row.gates, *__restrict kept = row.kept, *__restrict before = row.before, *__restrict d_out = row.d_output;
    T *__restrict d_hidden = row.d_hidden, *__restrict d = row.gradient, *__restrict d_candidate = row.d_candidate, *__restrict d_b = row.d_shift;
#pragma omp simd
    for (int64_t k = 0; k < n; ++k) {
      const T reset = g[k], update = g[n + k], candidate = g[2 * n + k], d_h = d_hidden[k] + d_out[k];
      const T d_c = d_h * (1 - update) * (1 - candidate * candidate);
      d[k] = d_c * kept[k] * reset * (1 - reset);
      d[n + k] = d_h * (before[k] - candidate) * update * (1 - update);
      d[2 * n + k] = d_c * reset;
      d_candidate[k] = d_c;
      d_b[k] += d[k], d_b[n + k] += d[n + k], d_b[2 * n + k] += d_c;
      d_hidden[k] = d_h * update;
    }
  }
};

struct SingleGate {  // the gate keeps the old state
  static constexpr int gates = 2;
  static constexpr bool has_cell_state = false, keeps = false, has_inner_bias = false, peepholes = false;
  static constexpr bool keeps_hidden = true;
  template <class T>
  static void forward(const Row<T>& row, int64_t n) {
    T *__restrict g = row.gates, *__restrict h = row.hidden, *__restrict out = row.output;
    const T *__restrict p = row.product, *__restrict b = row.shift;
#pragma omp simd
    for (int64_t k = 0; k < n; ++k) {
      const T update = sigmoid(g[k] + p[k] + b[k]), candidate = hyperbolic(g[n + k] + p[n + k] + b[n + k]);
      g[k] = update, g[n + k] = candidate;
      h[k] = out[k] = candidate + update * (h[k] - candidate);
    }
  }
  template <class T>
  static void backward(const BackRow<T>& row, int64_t n) {
    const T *__restrict g = row.gates, *__restrict before = row.before, *__restrict d_out = row.d_output;
    T *__restrict d_hidden = row.d_hidden, *__restrict d = row.gradient, *__restrict d_b = row.d_shift;
#pragma omp simd
    for (int64_t k = 0; k < n; ++k) {
      const T update = g[k], candidate = g[n + k], d_h = d_hidden[k] + d_out[k];
      d[k] = d_h * (before[k] - candidate) * update * (1 - update);
      d[n + k] = d_h * (1 - update) * (1 - candidate * candidate);
      d_b[k] += d[k], d_b[n + k] += d[n + k];
      d_hidden[k] = d_h * update;
    }
  }
};
