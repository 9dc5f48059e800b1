// LZ76 (Lempel and Ziv 1976) by hand: the phrases of sequences of up to 128 codes below 256.
//
// Every code has a bit for each place where it was met; `ends` has those where an earlier
// occurrence of the phrase so far could go on.
#include "words.hpp"

template <class Bits>
static int counted(const u8* codes, int length, Bits* seen) {
  const Bits none = 0, all = ~none;
  Bits ends = all, here = 1;
  int phrases = 0;
  for (int n = 0; n < length; n++) {
    Bits& of = seen[codes[n]];
    ends &= of;
    of |= here;
    here <<= 1;
    if (__builtin_expect(ends == none, 0)) {  // a branch, so that the next code need not wait
      phrases++;
      ends = all;
    } else {
      ends <<= 1;
    }
  }
  for (int n = 0; n < length; n++) seen[codes[n]] = 0;
  return phrases + (ends != all);
}

extern "C" void phrases(const u8* codes, i64 count, i64 length, i64* found) {
  static u64 few[256];
  static unsigned __int128 many[256];
  for (i64 n = 0; n < count; n++) {
    const u8* of = codes + n * length;
    found[n] = length <= 64 ? counted(of, length, few) : counted(of, length, many);
  }
}
