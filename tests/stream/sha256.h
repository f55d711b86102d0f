// SHA-256 (FIPS 180-4) of a text, in hexadecimal: for golden values only.

#ifndef TESTS_STREAM_SHA256_H_
#define TESTS_STREAM_SHA256_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace kvmatrix {
namespace internal {

// The first 32 bits of the fraction of the cube or square root of a prime.
inline uint32_t FractionBits(long double root) {
  return static_cast<uint32_t>((root - std::floor(root)) * 4294967296.0L);
}

inline std::array<int, 64> FirstPrimes() {
  std::array<int, 64> primes{};
  size_t count = 0;
  for (int n = 2; count < primes.size(); ++n) {
    bool prime = true;
    for (size_t i = 0; i < count; ++i) prime &= n % primes[i] != 0;
    if (prime) primes[count++] = n;
  }
  return primes;
}

inline void AddSha256Block(const unsigned char* block, uint32_t (&hash)[8]) {
  static const std::array<int, 64> kPrimes = FirstPrimes();
  uint32_t w[64];
  for (int i = 0; i < 16; ++i) {
    w[i] = uint32_t{block[4 * i]} << 24 | uint32_t{block[4 * i + 1]} << 16 |
           uint32_t{block[4 * i + 2]} << 8 | block[4 * i + 3];
  }
  for (int i = 16; i < 64; ++i) {
    const uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] +
           (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
  }
  uint32_t v[8];
  std::copy_n(hash, 8, v);
  for (int i = 0; i < 64; ++i) {
    const uint32_t t =
        v[7] +
        (std::rotr(v[4], 6) ^ std::rotr(v[4], 11) ^ std::rotr(v[4], 25)) +
        ((v[4] & v[5]) ^ (~v[4] & v[6])) +
        FractionBits(std::cbrt(static_cast<long double>(kPrimes[i]))) + w[i];
    const uint32_t u =
        (std::rotr(v[0], 2) ^ std::rotr(v[0], 13) ^ std::rotr(v[0], 22)) +
        ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
    for (int j = 7; j > 0; --j) v[j] = v[j - 1];
    v[4] += t;
    v[0] = t + u;
  }
  for (int i = 0; i < 8; ++i) hash[i] += v[i];
}

}  // namespace internal

inline std::string Sha256(std::string_view text) {
  std::string padded(text);
  padded.push_back('\x80');
  while (padded.size() % 64 != 56) padded.push_back('\0');
  for (int shift = 56; shift >= 0; shift -= 8) {
    padded.push_back(static_cast<char>(text.size() * 8 >> shift));
  }
  uint32_t hash[8];
  for (int i = 0; i < 8; ++i) {
    hash[i] = internal::FractionBits(
        std::sqrt(static_cast<long double>(internal::FirstPrimes()[i])));
  }
  for (size_t i = 0; i < padded.size(); i += 64) {
    internal::AddSha256Block(
        reinterpret_cast<const unsigned char*>(padded.data()) + i, hash);
  }
  std::string hex;
  for (const uint32_t word : hash) {
    char digits[9];
    std::snprintf(digits, sizeof(digits), "%08x", word);
    hex += digits;
  }
  return hex;
}

}  // namespace kvmatrix

#endif  // TESTS_STREAM_SHA256_H_
