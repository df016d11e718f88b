// The loops over time of the cells whose step is one product, and the names under which Python finds every kernel.
// Each has its slower counterpart in Python, and a test that the two agree.
#include <torch/library.h>

#include "layer_norm_lstm.h"
#include "reset_before_gru.h"
#include "rules.h"
#include "scan.h"

namespace {

using at::Tensor;

// Peepholes (3, n), the bias inside the GRU's candidate (n), or nothing.
template <class Rule, class T>
Rows<T> extra_of(const Maybe& extra, int64_t n) {
  if constexpr (Rule::has_inner_bias) return Rows<T>(extra, true, "extra", {n});
  return Rows<T>(extra, Rule::peepholes, "extra", {3, n});
}

template <class Rule, class T>
void forward_steps(const Tensor& gates, const Tensor& recurrent, const Tensor& bias, const Tensor& hidden, const Maybe& cell_state, const Tensor& outputs,
                   const Maybe& kept, const Maybe& extra, const StepLayout& layout) {
  constexpr int64_t width = Rule::gates;
  const int64_t n = width_of(hidden, "hidden", width), rows = layout.rows(), batch = layout.batch();
  check<T>(recurrent, "recurrent", {width * n, n});
  const Tensor turned = recurrent.t().contiguous();  // (hidden, gates): the layout that the product below reads fastest
  const Rows<T> gate(gates, "gates", {rows, width * n}), state(hidden, "hidden", {batch, n}), cell(cell_state, Rule::has_cell_state, "cell_state", {batch, n}),
      output(outputs, "outputs", {rows, n}), store(kept, Rule::keeps, "kept", {rows, n}), weight(turned, "recurrent", {n, width * n}),
      shift(bias, "bias", {width * n}), given = extra_of<Rule, T>(extra, n);
  layout.scan(
      false, [&](int64_t, int64_t share) { return std::vector<T>(share * width * n); },
      [&](std::vector<T>& products, int64_t t, int64_t low, int64_t live) {
        product<T>(live, width * n, n, state[low], n, weight[0], width * n, false, products.data(), width * n, 0);
        for (int64_t j = low; j < low + live; ++j) {
          const int64_t at = layout.starts[t] + j;
          Rule::forward(Row<T>{gate[at], products.data() + (j - low) * width * n, shift[0], state[j], cell[j], output[at], store[at], given[0]}, n);
        }
      });
}

template <class Rule, class T>
void backward_steps(const Tensor& gates, const Tensor& recurrent, const Maybe& kept, const Tensor& earlier, const Tensor& initial,
                    const Tensor& d_outputs, const Tensor& d_hidden, const Maybe& d_cell_state, const Tensor& gradient, const Maybe& d_candidate,
                    const Tensor& d_bias, const Maybe& extra, const StepLayout& layout) {
  constexpr int64_t width = Rule::gates;
  const int64_t n = width_of(d_hidden, "d_hidden", width), rows = layout.rows(), batch = layout.batch();
  const Rows<T> gate(gates, "gates", {rows, width * n}), store(kept, Rule::keeps, "kept", {rows, n}), past(earlier, "earlier", {rows, n}),
      first(initial, "initial", {batch, n}), d_output(d_outputs, "d_outputs", {rows, n}), d_state(d_hidden, "d_hidden", {batch, n}),
      d_cell(d_cell_state, Rule::has_cell_state, "d_cell_state", {batch, n}), d_gate(gradient, "gradient", {rows, width * n}),
      d_inner(d_candidate, Rule::has_inner_bias, "d_candidate", {rows, n}), weight(recurrent, "recurrent", {width * n, n}),
      d_shift_sum(d_bias, "d_bias", {width * n}), given(extra, Rule::peepholes, "extra", {3, n});
  std::vector<std::vector<T>> shares(layout.shares().size() - 1, std::vector<T>(width * n));  // each thread's own sum for the bias
  layout.scan(
      true, [&](int64_t part, int64_t) { return shares[part].data(); },
      [&](T* d_shift, int64_t t, int64_t low, int64_t live) {
        for (int64_t j = low; j < low + live; ++j) {
          const int64_t at = layout.starts[t] + j, before = layout.before(t, j);
          Rule::backward(BackRow<T>{gate[at], store[at], before < 0 ? first[j] : past[before], d_output[at], d_state[j], d_cell[j], d_gate[at],
                                    d_inner[at], d_shift, given[0]},
                         n);
        }
        product<T>(live, n, width * n, d_gate[layout.starts[t] + low], width * n, weight[0], n, false, d_state[low], n, Rule::keeps_hidden);
      });
  T* total = d_shift_sum[0];
  for (const auto& share : shares) {
    for (int64_t k = 0; k < width * n; ++k) total[k] += share[k];
  }
}

template <class Rule>
void forward(const Tensor& gates, const Tensor& recurrent, const Tensor& bias, const Tensor& hidden, const Maybe& cell_state, const Tensor& outputs, const Maybe& kept,
             const Maybe& extra, at::IntArrayRef sizes, bool reverse) {
  const StepLayout layout(sizes, reverse);
  const auto steps = is_single(gates, "gates") ? &forward_steps<Rule, float> : &forward_steps<Rule, double>;
  steps(gates, recurrent, bias, hidden, cell_state, outputs, kept, extra, layout);
}

template <class Rule>
void backward(const Tensor& gates, const Tensor& recurrent, const Maybe& kept, const Tensor& earlier, const Tensor& initial, const Tensor& d_outputs,
              const Tensor& d_hidden, const Maybe& d_cell_state, const Tensor& gradient, const Maybe& d_candidate, const Tensor& d_bias,
              const Maybe& extra, at::IntArrayRef sizes, bool reverse) {
  const StepLayout layout(sizes, reverse);
  const auto steps = is_single(gates, "gates") ? &backward_steps<Rule, float> : &backward_steps<Rule, double>;
  steps(gates, recurrent, kept, earlier, initial, d_outputs, d_hidden, d_cell_state, gradient, d_candidate, d_bias, extra, layout);
}

// torch's fallback for tensors whose sign is a flag (`x.conj().imag`) expects that a kernel returns what it writes, and reads beyond its stack where it does
// not. Such tensors come straight to the kernel's checks instead.
template <class Function>
void implement(torch::Library& library, const std::string& kernel, Function function) {
  library.impl(kernel.c_str(), torch::dispatch(c10::DispatchKey::CPU, function));
  for (const auto key : {c10::DispatchKey::Negative, c10::DispatchKey::Conjugate}) {
    library.impl(kernel.c_str(), torch::dispatch(key, torch::CppFunction::makeFallthrough()));
  }
}

template <class Rule>
void offer(torch::Library& library, const std::string& cell) {
  library.def((cell + "_forward(Tensor(a!) gates, Tensor recurrent, Tensor bias, Tensor(b!) hidden, Tensor(c!)? cell_state, Tensor(d!) outputs, Tensor(e!)? kept, "
                      "Tensor? extra, int[] sizes, bool reverse) -> ()").c_str());
  library.def((cell + "_backward(Tensor gates, Tensor recurrent, Tensor? kept, Tensor earlier, Tensor initial, Tensor d_outputs, "
                      "Tensor(a!) d_hidden, Tensor(b!)? d_cell_state, Tensor(c!) gradient, Tensor(d!)? d_candidate, Tensor(e!) d_bias, Tensor? extra, int[] sizes, "
                      "bool reverse) -> ()").c_str());
  implement(library, cell + "_forward", TORCH_FN((forward<Rule>)));
  implement(library, cell + "_backward", TORCH_FN((backward<Rule>)));
}

}  // namespace

TORCH_LIBRARY(seqlab, library) {
  offer<LSTM<0>>(library, "lstm");
  offer<LSTM<1>>(library, "peephole_lstm");
  offer<LSTM<2>>(library, "peephole_lstm_new");
  offer<CoupledLSTM>(library, "coupled_lstm");
  offer<GRU>(library, "gru");
  offer<SingleGate>(library, "single_gate");
  library.def(RESET_BEFORE_FORWARD);
  library.def(RESET_BEFORE_BACKWARD);
  library.def(LAYER_NORM_FORWARD);
  library.def(LAYER_NORM_BACKWARD);
  implement(library, "reset_before_gru_forward", TORCH_FN(reset_before::forward));
  implement(library, "reset_before_gru_backward", TORCH_FN(reset_before::backward));
  implement(library, "layer_norm_lstm_forward", TORCH_FN(layer_norm::forward));
  implement(library, "layer_norm_lstm_backward", TORCH_FN(layer_norm::backward));
}
