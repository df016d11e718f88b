// exp, sigmoid and tanh written so that the compiler turns loops over them into vector instructions.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

// exp(x) - 1 = 2^n (e^r - 1) + (2^n - 1) with x = n ln 2 + r and |r| <= ln 2 / 2. The split keeps small values exact to the last bits.
inline float exp_minus_one(float x) {
  x = x < -87.0f ? -87.0f : (x > 87.0f ? 87.0f : x);
  constexpr float round_to_integer = 12582912.0f;  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits
  const float shifted = x * 1.44269504f + round_to_integer;
  const int32_t n = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(round_to_integer);
  const float whole = shifted - round_to_integer;
  float r = x - whole * 0.693145752f;  // ln 2 in two parts, so that the product with a small integer is exact
  r = r - whole * 1.42860677e-6f;
  float series = 1.0f / 5040.0f;  // Taylor, enough for |r| < 0.35 in single precision
  series = series * r + 1.0f / 720.0f;
  series = series * r + 1.0f / 120.0f;
  series = series * r + 1.0f / 24.0f;
  series = series * r + 1.0f / 6.0f;
  series = series * r + 0.5f;
  series = series * r * r + r;
  const float power = std::bit_cast<float>((n + 127) << 23);
  return power * series + (power - 1.0f);
}

inline float sigmoid(float x) { return 1.0f / (2.0f + exp_minus_one(-x)); }

inline float hyperbolic(float x) {
  const float e = exp_minus_one(2.0f * x);
  return e / (e + 2.0f);
}

inline double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
inline double hyperbolic(double x) { return std::tanh(x); }
