// The only way from a tensor to a raw pointer. A wrong shape, type, stride, layout or device raises an error before there is a pointer.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <limits>
#include <optional>

using Maybe = std::optional<at::Tensor>;

// Whether the storage holds all elements; it may have been freed or shrunk behind the tensor's back.
inline bool is_backed(const at::Tensor& tensor) {
  if (tensor.numel() == 0) return true;
  int64_t last = tensor.storage_offset();
  for (int64_t axis = 0; axis < tensor.dim(); ++axis) last += (tensor.size(axis) - 1) * tensor.stride(axis);
  return static_cast<uint64_t>(last + 1) * tensor.itemsize() <= tensor.storage().nbytes();
}

template <class T>
void check(const at::Tensor& tensor, const char* name, at::IntArrayRef shape) {
  constexpr at::ScalarType type = c10::CppTypeToScalarType<T>::value;
  TORCH_CHECK(tensor.defined() && tensor.layout() == at::kStrided && tensor.device().is_cpu(), "recurrent kernel: ", name,
              " must be a dense tensor on the CPU");
  TORCH_CHECK(tensor.scalar_type() == type, "recurrent kernel: ", name, " must be of type ", type, ", got ", tensor.scalar_type());
  TORCH_CHECK(tensor.sizes() == shape, "recurrent kernel: ", name, " must have the shape ", shape, ", got ", tensor.sizes());
  TORCH_CHECK(!tensor.is_neg() && !tensor.is_conj(), "recurrent kernel: ", name, " is negated or conjugated only by a flag; call resolve_neg() or resolve_conj()");
  // Gradients are those of the scans in Python around the kernels. A kernel alone would leave autograd with stale values.
  TORCH_CHECK(!tensor.requires_grad() || !c10::GradMode::is_enabled(), "recurrent kernel: ", name, " requires a gradient, which a kernel alone does not have");
  TORCH_CHECK(is_backed(tensor), "recurrent kernel: ", name, " is larger than its storage");
}

// The rows of a contiguous tensor of exactly this shape: row i begins at rows[i]. Null for an argument that a kernel does not use.
template <class T>
class Rows {
 public:
  Rows(const at::Tensor& tensor, const char* name, at::IntArrayRef shape) {
    check<T>(tensor, name, shape);
    TORCH_CHECK(tensor.is_contiguous(), "recurrent kernel: ", name, " must be contiguous, got strides ", tensor.strides());
    first_ = static_cast<T*>(tensor.data_ptr());
    width_ = shape.size() > 1 ? shape.back() : 0;
  }
  Rows(const Maybe& tensor, bool is_needed, const char* name, at::IntArrayRef shape) {
    TORCH_CHECK(tensor.has_value() == is_needed, "recurrent kernel: ", name, is_needed ? " is missing" : " is not an argument of this kernel");
    if (tensor) *this = Rows(*tensor, name, shape);
  }

  T* operator[](int64_t row) const { return first_ + row * width_; }

 private:
  T* first_ = nullptr;
  int64_t width_ = 0;
};

// The width of a state (batch, width). Products are counted in 32 bits, so `gates` times the width must fit.
inline int64_t width_of(const at::Tensor& state, const char* name, int64_t gates) {
  TORCH_CHECK(state.dim() == 2, "recurrent kernel: ", name, " must have 2 axes, got ", state.dim());
  const int64_t width = state.size(1);
  TORCH_CHECK(0 < width && width <= std::numeric_limits<int>::max() / gates, "recurrent kernel: ", name, " is ", width, " wide");
  return width;
}

inline bool is_single(const at::Tensor& tensor, const char* name) {
  const auto type = tensor.scalar_type();
  TORCH_CHECK(type == at::kFloat || type == at::kDouble, "recurrent kernel: ", name, " must be float or double, got ", type);
  return type == at::kFloat;
}
