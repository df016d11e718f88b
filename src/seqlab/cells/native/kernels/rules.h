// The gated cells whose step is one product and one pass over a row. The equations stand in the Python files of the cells.
#pragma once

#include "activations.h"

#include <cstdint>

template <class T>
struct Row {                           // one sequence at one step, forward
  T* gates;                            // W x, left activated
  const T *product, *shift;            // U hidden, and b
  T *hidden, *memory, *output, *kept;  // kept: what backward needs beside the gates (the memory, or the product inside the candidate)
  const T* extra;                      // peepholes (3, n), or the recurrent bias (n)
};

template <class T>
struct BackRow {                                   // one sequence at one step, backward
  const T *gates, *kept, *before, *d_output;       // before: the memory, or the hidden state, that this step began with
  T *d_hidden, *d_memory, *gradient, *d_candidate; // gradient: of U hidden; d_candidate: where that of W x differs
  T* d_shift;                                      // summed over all rows
  const T* extra;
};

// A rule declares which optional tensors it uses: a memory; what backward needs beside the gates (`keeps`); a bias inside the candidate, whose
// gradient then differs from that of W x; peepholes. The others are null.
//
// Peepholes: 0 none, 1 the exposing gate sees the memory before the step, 2 it sees the new one.
template <int peeps>
struct LSTM {
  static constexpr int gates = 4;
  static constexpr bool has_memory = true, keeps = true, has_inner_bias = false, peepholes = peeps > 0;
  static constexpr bool keeps_hidden = false;
  template <class T>
  static void forward(const Row<T>& row, int64_t n) {
    T *__restrict g = row.gates, *__restrict h = row.hidden, *__restrict c = row.memory, *__restrict out = row.output, *__restrict kept = row.kept;
    const T *__restrict p = row.product, *__restrict b = row.shift, *__restrict peep = row.extra;
#pragma omp simd
    for (int64_t k = 0; k < n; ++k) {
      T to_write = g[k] + p[k] + b[k], to_forget = g[n + k] + p[n + k] + b[n + k], to_expose = g[3 * n + k] + p[3 * n + k] + b[3 * n + k];
      if constexpr (peeps > 0) to_write += c[k] * peep[k], to_forget += c[k] * peep[n + k];
      if constexpr (peeps == 1) to_expose += c[k] * peep[2 * n + k];
      const T write = sigmoid(to_write), forget = sigmoid(to_forget), candidate = hyperbolic(g[2 * n + k] + p[2 * n + k] + b[2 * n + k]);
      const T memory = forget * c[k] + write * candidate;
      if constexpr (peeps == 2) to_expose += memory * peep[2 * n + k];
      const T expose = sigmoid(to_expose);
      g[k] = write, g[n + k] = forget, g[2 * n + k] = candidate, g[3 * n + k] = expose;
      c[k] = kept[k] = memory;
      h[k] = out[k] = expose * hyperbolic(memory);
    }
  }
  template <class T>
  static void backward(const BackRow<T>& row, int64_t n) {
    const T *__restrict g = row.gates, *__restrict kept = row.kept, *__restrict before = row.before, *__restrict d_out = row.d_output;
    const T* __restrict peep = row.extra;
    T *__restrict d_hidden = row.d_hidden, *__restrict d_memory = row.d_memory, *__restrict d = row.gradient, *__restrict d_b = row.d_shift;
#pragma omp simd
    for (int64_t k = 0; k < n; ++k) {
      const T write = g[k], forget = g[n + k], candidate = g[2 * n + k], expose = g[3 * n + k];
      const T shown = hyperbolic(kept[k]), d_h = d_hidden[k] + d_out[k];
      const T d_expose = d_h * shown * expose * (1 - expose);
      T d_c = d_memory[k] + d_h * expose * (1 - shown * shown);
      if constexpr (peeps == 2) d_c += d_expose * peep[2 * n + k];
      const T d_write = d_c * candidate * write * (1 - write), d_forget = d_c * before[k] * forget * (1 - forget);
      const T d_candidate = d_c * write * (1 - candidate * candidate);
      d[k] = d_write, d[n + k] = d_forget, d[2 * n + k] = d_candidate, d[3 * n + k] = d_expose;
      d_b[k] += d_write, d_b[n + k] += d_forget, d_b[2 * n + k] += d_candidate, d_b[3 * n + k] += d_expose;
      T back = d_c * forget;
      if constexpr (peeps > 0) back += d_write * peep[k] + d_forget * peep[n + k];
      if constexpr (peeps == 1) back += d_expose * peep[2 * n + k];
      d_memory[k] = back;
    }
  }
};

struct CoupledLSTM {
  static constexpr int gates = 3;
  static constexpr bool has_memory = true, keeps = true, has_inner_bias = false, peepholes = false;
  static constexpr bool keeps_hidden = false;
  template <class T>
  static void forward(const Row<T>& row, int64_t n) {
    T *__restrict g = row.gates, *__restrict h = row.hidden, *__restrict c = row.memory, *__restrict out = row.output, *__restrict kept = row.kept;
    const T *__restrict p = row.product, *__restrict b = row.shift;
#pragma omp simd
    for (int64_t k = 0; k < n; ++k) {
      const T forget = sigmoid(g[k] + p[k] + b[k]), candidate = hyperbolic(g[n + k] + p[n + k] + b[n + k]);
      const T expose = sigmoid(g[2 * n + k] + p[2 * n + k] + b[2 * n + k]);
      const T memory = candidate + forget * (c[k] - candidate);
      g[k] = forget, g[n + k] = candidate, g[2 * n + k] = expose;
      c[k] = kept[k] = memory;
      h[k] = out[k] = expose * hyperbolic(memory);
    }
  }
  template <class T>
  static void backward(const BackRow<T>& row, int64_t n) {
    const T *__restrict g = row.gates, *__restrict kept = row.kept, *__restrict before = row.before, *__restrict d_out = row.d_output;
    T *__restrict d_hidden = row.d_hidden, *__restrict d_memory = row.d_memory, *__restrict d = row.gradient, *__restrict d_b = row.d_shift;
#pragma omp simd
    for (int64_t k = 0; k < n; ++k) {
      const T forget = g[k], candidate = g[n + k], expose = g[2 * n + k];
      const T shown = hyperbolic(kept[k]), d_h = d_hidden[k] + d_out[k];
      const T d_c = d_memory[k] + d_h * expose * (1 - shown * shown);
      d[k] = d_c * (before[k] - candidate) * forget * (1 - forget);
      d[n + k] = d_c * (1 - forget) * (1 - candidate * candidate);
      d[2 * n + k] = d_h * shown * expose * (1 - expose);
      d_b[k] += d[k], d_b[n + k] += d[n + k], d_b[2 * n + k] += d[2 * n + k];
      d_memory[k] = d_c * forget;
    }
  }
};

struct GRU {  // torch's: the reset gate acts after the product; the update gate keeps the old state
  static constexpr int gates = 3;
  static constexpr bool has_memory = false, keeps = true, has_inner_bias = true, peepholes = false;
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
  static constexpr bool has_memory = false, keeps = false, has_inner_bias = false, peepholes = false;
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
