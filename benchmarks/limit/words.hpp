// Random words and keys, from their definition in allminds/core/seeding.py.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i64 = std::int64_t;

constexpr u64 MAKING = 0, WORLD = 1, MINDS = 2;

inline u64 fold(u64 h, u64 x) {
  u64 z = h + 0x9E3779B97F4A7C15ull * (x + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

inline u64 word(u64 key, u64 step, u64 j) { return fold(key, step << 32 | j); }
inline u64 below(u64 bits, u64 n) { return ((bits >> 32) * n) >> 32; }
inline double unit(u64 bits) { return double(bits >> 11) * 0x1p-53; }

inline u64 turned(u64 x, int by) { return x >> by | x << (64 - by); }

// BLAKE2b-512 (RFC 7693) of seed, stream and run: the keys of eight exercises.
inline void digest(u64 seed, u64 stream, u64 run, u64 out[8]) {
  static const u64 start[8] = {
      0x6A09E667F3BCC908ull, 0xBB67AE8584CAA73Bull, 0x3C6EF372FE94F82Bull, 0xA54FF53A5F1D36F1ull,
      0x510E527FADE682D1ull, 0x9B05688C2B3E6C1Full, 0x1F83D9ABFB41BD6Bull, 0x5BE0CD19137E2179ull};
  static const u8 order[10][16] = {
      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
      {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
      {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
      {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
      {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
      {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
      {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
      {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
      {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
      {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};
  u64 h[8], v[16], m[16] = {seed, stream, run};
  std::memcpy(h, start, sizeof h);
  h[0] ^= 0x01010000 ^ 64;
  u64 person[2];
  std::memcpy(person, "allminds streams", 16);
  h[6] ^= person[0];
  h[7] ^= person[1];
  std::memcpy(v, h, sizeof h);
  std::memcpy(v + 8, start, sizeof start);
  v[12] ^= 24;
  v[14] = ~v[14];
  auto mix = [&](int a, int b, int c, int d, u64 x, u64 y) {
    v[a] += v[b] + x;
    v[d] = turned(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = turned(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = turned(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = turned(v[b] ^ v[c], 63);
  };
  for (int round = 0; round < 12; round++) {
    const u8* s = order[round % 10];
    for (int n = 0; n < 4; n++) mix(n, 4 + n, 8 + n, 12 + n, m[s[2 * n]], m[s[2 * n + 1]]);
    for (int n = 0; n < 4; n++)
      mix(n, 4 + (n + 1) % 4, 8 + (n + 2) % 4, 12 + (n + 3) % 4, m[s[8 + 2 * n]], m[s[9 + 2 * n]]);
  }
  for (int n = 0; n < 8; n++) out[n] = h[n] ^ v[n] ^ v[n + 8];
}

// The keys of one stream, exercise after exercise.
struct Keys {
  u64 seed, stream, eight[8];
  i64 run = -1;
  Keys(u64 seed, u64 stream) : seed(seed), stream(stream) {}
  u64 of(i64 exercise) {
    if (exercise / 8 != run) digest(seed, stream, run = exercise / 8, eight);
    return eight[exercise % 8];
  }
};

// The stratum of each exercise: all come once in every run, in an order of its own.
struct Strata {
  Keys keys;
  i64 run = -1;
  std::vector<int> order;
  Strata(u64 seed, int count) : keys(seed, MAKING), order(count) {}
  int of(i64 exercise) {
    i64 count = order.size();
    if (exercise / count != run) {
      u64 key = keys.of(run = exercise / count);
      for (int n = 0; n < count; n++) order[n] = n;
      for (int n = count - 1; n > 0; n--)
        std::swap(order[n], order[below(word(key, 0xFFFFFFFF, count - 1 - n), n + 1)]);
    }
    return order[exercise % count];
  }
};
