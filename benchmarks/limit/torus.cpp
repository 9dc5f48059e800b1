// Λ* by hand: worlds, minds and scores, for a torus of up to 100 x 100 cells in bytes.
//
// LANES exercises go side by side, a byte for a row and one for a column, so that the compiler
// makes vector instructions of the loops over lanes.
#include <algorithm>

#include "words.hpp"

namespace {

constexpr int LANES = 64, MOVES = 9;
using Lanes = i8[LANES];

}  // namespace

struct Torus {  // as `Torus` in limits.py
  i64 rows, cols, steps, agents, limit, strata;
  const i64 *complexities, *shelf, *lengths;
  const u8* catalogue;  // [segment][limit]: moves 0..8
};

struct Found {  // as `Found` in limits.py
  double *score, *learning;  // [exercise][slot]
  i64* curve;                // [step], in half units
};

namespace {

struct Way {  // [step]
  std::vector<i8> memory;
  Lanes *row, *col;
  explicit Way(int steps) : memory(2 * steps * LANES) {
    row = reinterpret_cast<Lanes*>(memory.data());
    col = row + steps;
  }
};

struct Block {
  Way good, evil, start, way;
  u64 world[LANES];
  explicit Block(const Torus& on)
      : good(on.steps + 1), evil(on.steps + 1), start(on.agents), way(on.steps + 1) {}
};

inline i8 wrapped(i8 at, i8 size) {
  i8 up = at < 0 ? at + size : at;
  return up >= size ? up - size : up;
}

// Moves all lanes by 0..8.
inline void move(const u8* by, const Way& way, int t, i8 rows, i8 cols) {
  const i8 *row = way.row[t], *col = way.col[t];
  i8 *to_row = way.row[t + 1], *to_col = way.col[t + 1];
  for (int l = 0; l < LANES; l++) {
    i8 down = (by[l] >= 3) + (by[l] >= 6), right = by[l] - down - down - down;
    to_row[l] = wrapped(row[l] + down - 1, rows);
    to_col[l] = wrapped(col[l] + right - 1, cols);
  }
}

inline i8 apart(i8 here, i8 there, i8 size) {
  i8 ahead = std::abs(here - there);
  return std::min<i8>(ahead, size - ahead);
}

inline i8 worth(i8 row, i8 col, i8 to_row, i8 to_col, i8 rows, i8 cols) {
  i8 far = std::max(apart(row, to_row, rows), apart(col, to_col, cols));
  return far < 2 ? 2 - far : 0;
}

// ---------------------------------------------------------------- worlds

struct Maker {
  const Torus& on;
  Keys making, world;
  Strata strata;
  std::vector<u8> good, evil;  // moves [step][lane]
  std::vector<int> deck, swapped;
  Maker(const Torus& on, u64 seed)
      : on(on), making(seed, MAKING), world(seed, WORLD), strata(seed, on.strata),
        good(on.steps * LANES), evil(on.steps * LANES), deck(on.rows * on.cols),
        swapped(on.agents) {
    for (size_t n = 0; n < deck.size(); n++) deck[n] = n;
  }

  void repeat(i64 segment, u8* out) const {
    const u8* moves = on.catalogue + segment * on.limit;
    i64 length = on.lengths[segment];
    for (i64 t = 0, at = 0; t < on.steps; t++, at = at + 1 < length ? at + 1 : 0)
      out[t * LANES] = moves[at];
  }

  void put(Way& way, int t, int l, int cell) const {
    way.row[t][l] = cell / on.cols;
    way.col[t][l] = cell % on.cols;
  }

  void begin(Block& block, int l, i64 exercise) {
    u64 key = making.of(exercise), moving = block.world[l] = world.of(exercise);
    i64 k = on.complexities[strata.of(exercise)], low = on.shelf[k], size = on.shelf[k + 1] - low;
    i64 mine = low + below(word(key, 0, 0), size), other = low + below(word(key, 0, 1), size);
    for (u64 j = 2; k >= 3 && other == mine; j++) other = low + below(word(key, 0, j), size);
    repeat(mine, &good[l]);
    repeat(other, &evil[l]);
    int cells = deck.size(), first = below(word(moving, 0, 0), cells);
    int second = below(word(moving, 0, 1), cells - 1);
    put(block.good, 0, l, first);
    put(block.evil, 0, l, second + (second >= first));
    for (int n = 0; n < on.agents; n++) {
      swapped[n] = n + below(word(moving, 0, 2 + n), cells - n);
      std::swap(deck[n], deck[swapped[n]]);
      put(block.start, n, l, deck[n]);
    }
    for (int n = on.agents - 1; n >= 0; n--) std::swap(deck[n], deck[swapped[n]]);
  }

  void travel(Block& block) const {
    alignas(64) u8 same[LANES];
    Way &g = block.good, &e = block.evil;
    for (int t = 0; t < on.steps; t++) {
      move(&good[t * LANES], g, t, on.rows, on.cols);
      move(&evil[t * LANES], e, t, on.rows, on.cols);
      const i8 *a = g.row[t + 1], *b = e.row[t + 1], *c = g.col[t + 1], *d = e.col[t + 1];
      u8 any = 0;
      for (int l = 0; l < LANES; l++) any |= same[l] = (a[l] == b[l]) & (c[l] == d[l]);
      if (any)
        for (int l = 0; l < LANES; l++)
          if (same[l]) part(g, e, t + 1, l, block.world[l]);
    }
  }

  static void part(Way& g, Way& e, int t, int l, u64 key) {
    auto stays = [&](Way& of) { return of.row[t][l] == of.row[t - 1][l] && of.col[t][l] == of.col[t - 1][l]; };
    bool to_good = stays(g) || (!stays(e) && below(word(key, t, 0), 2) == 0);
    Way& back = to_good ? e : g;
    back.row[t][l] = back.row[t - 1][l];
    back.col[t][l] = back.col[t - 1][l];
  }
};

// ---------------------------------------------------------------- minds

struct Mind {
  const Torus& on;
  explicit Mind(const Torus& on) : on(on) {}
  virtual ~Mind() = default;
  virtual void meet(Block&, int) {}                          // a new block of worlds
  virtual void walk(Block&, const u64* keys, int count) = 0;  // fills `way` from step 0
};

inline void draw(const u64* keys, u64 step, u64* out) {
  for (int l = 0; l < LANES; l++) out[l] = word(keys[l], step, 0);
}

struct RandomMind : Mind {
  using Mind::Mind;
  void walk(Block& block, const u64* keys, int) override {
    alignas(64) u8 by[LANES];
    for (int t = 0; t < on.steps; t++) {
      for (int l = 0; l < LANES; l++) by[l] = below(word(keys[l], t, 0), MOVES);
      move(by, block.way, t, on.rows, on.cols);
    }
  }
};

// Looks up the best moves by where Good and Evil lie: displacements of -2..2, or far.
struct LocalSearch : Mind {
  std::vector<u8> down, right;   // [displacement + size]
  std::vector<u8> count, moves;  // [class of Good * 36 + class of Evil]
  explicit LocalSearch(const Torus& on)
      : Mind(on), down(classes(on.rows)), right(classes(on.cols)), count(36 * 36),
        moves(36 * 36 * MOVES) {
    for (u8& one : down) one *= 6;
    for (int both = 0; both < 36 * 36; both++) {
      int seen[MOVES];
      for (int a = 0; a < MOVES; a++) seen[a] = gain(both / 36, a) - gain(both % 36, a);
      int best = *std::max_element(seen, seen + MOVES);
      for (int a = 0; a < MOVES; a++)
        if (seen[a] == best) moves[both * MOVES + count[both]++] = a;
    }
  }
  static std::vector<u8> classes(int size) {
    std::vector<u8> of(2 * size + 1, 5);
    for (int d = -size; d <= size; d++) {
      int near = ((d % size) + size) % size;
      near = near > size / 2 ? near - size : near;
      if (std::abs(near) <= 2) of[d + size] = near + 2;
    }
    return of;
  }
  static int gain(int place, int a) {  // what Good gives in the cell that a move leads to
    int row = place / 6 - 2, col = place % 6 - 2;
    if (row == 3 || col == 3) return 0;
    return std::max(0, 2 - std::max(std::abs(row - (a / 3 - 1)), std::abs(col - (a % 3 - 1))));
  }
  void walk(Block& block, const u64* keys, int) override {
    alignas(64) u8 by[LANES];
    alignas(64) u64 words[LANES];
    const u8 *down = this->down.data() + on.rows, *right = this->right.data() + on.cols;
    for (int t = 0; t < on.steps; t++) {
      draw(keys, t, words);
      const i8 *row = block.way.row[t], *col = block.way.col[t];
      const i8 *gr = block.good.row[t], *gc = block.good.col[t];
      const i8 *er = block.evil.row[t], *ec = block.evil.col[t];
      for (int l = 0; l < LANES; l++) {
        u32 good = down[gr[l] - row[l]] + right[gc[l] - col[l]];
        u32 both = 36 * good + down[er[l] - row[l]] + right[ec[l] - col[l]];
        by[l] = moves[both * MOVES + below(words[l], count[both])];
      }
      move(by, block.way, t, on.rows, on.cols);
    }
  }
};

// Backward induction; a row of up to 16 cells is one register of 16-bit numbers.
struct Optimum : Mind {
  typedef i16 Row __attribute__((vector_size(32)));
  typedef u8 Bytes __attribute__((vector_size(16)));
  std::vector<Row> value, across;
  std::vector<Row> near, close;  // [col]: what Good gives one row away, and in its own row
  std::vector<u8> plan;          // [lane][step][row][16]
  Row west, east;                // where the neighbours of each column stand
  explicit Optimum(const Torus& on)
      : Mind(on), value(on.rows), across(on.rows + 2), near(on.cols), close(on.cols),
        plan(LANES * on.steps * on.rows * 16) {
    for (int c = 0; c < 16; c++) {
      west[c] = c < on.cols ? (c + on.cols - 1) % on.cols : c;
      east[c] = c < on.cols ? (c + 1) % on.cols : c;
    }
    for (int c = 0; c < on.cols; c++) {
      near[c] = close[c] = Row{};
      for (int to : {int(west[c]), c, int(east[c])}) near[c][to] = close[c][to] = 16;
      close[c][c] = 32;
    }
  }
  void reward(int row, int col, bool evil) {
    int up = row ? row - 1 : on.rows - 1, down = row + 1 < on.rows ? row + 1 : 0;
    if (evil) {
      value[up] -= near[col]; value[row] -= close[col]; value[down] -= near[col];
    } else {
      value[up] += near[col]; value[row] += close[col]; value[down] += near[col];
    }
  }
  static Row larger(Row a, Row b) { return a > b ? a : b; }
  void meet(Block& block, int count) override {
    for (int l = 0; l < count; l++) {
      std::fill(value.begin(), value.end(), Row{});
      for (int t = on.steps; t > 0; t--) {
        reward(block.good.row[t][l], block.good.col[t][l], false);
        reward(block.evil.row[t][l], block.evil.col[t][l], true);
        for (int r = 0; r < on.rows; r++) {  // the first of equals wins: two bits say which
          Row v = value[r];
          Row best = larger(__builtin_shuffle(v, west) + 2, v + 1);
          across[r + 1] = larger(best, __builtin_shuffle(v, east));
        }
        across[0] = across[on.rows];
        across[on.rows + 1] = across[1];
        u8* out = &plan[((l * on.steps + t - 1) * on.rows) * 16];
        for (int r = 0; r < on.rows; r++) {
          Row best = larger(larger(across[r] + 8, across[r + 1] + 4), across[r + 2]);
          value[r] = best & ~15;
          Bytes codes = __builtin_convertvector(best & 15, Bytes);
          std::memcpy(out + r * 16, &codes, 16);
        }
      }
    }
  }
  void walk(Block& block, const u64*, int count) override {
    for (int l = 0; l < count; l++) {
      int r = block.way.row[0][l], c = block.way.col[0][l];
      for (int t = 0; t < on.steps; t++) {
        int code = plan[((l * on.steps + t) * on.rows + r) * 16 + c];
        block.way.row[t + 1][l] = r = wrapped(r + 1 - (code >> 2), on.rows);
        block.way.col[t + 1][l] = c = wrapped(c + 1 - (code & 3), on.cols);
      }
    }
  }
};

// Q-learning with its defaults; beside the values of a row stand the best and who has it.
struct QLearning : Mind {
  static constexpr double ALPHA = 0.3, GAMMA = 0.3, SCALE = 10.0, INITIAL = 2.0;
  static constexpr int SESSIONS = 100;
  struct Row {
    double value[MOVES], best;
    u32 equal;
  };
  std::vector<u16> place;  // [step][cell]: its row, 0 if it was never met
  std::vector<Row> rows;
  std::vector<u16> around;             // [cell][move]
  std::vector<i8> gain;                // [step][cell], in half units
  u8 nth[1 << MOVES][MOVES];           // [set][n]: the n-th of the moves in a set
  double worth[5];
  int used = 0, cells;
  explicit QLearning(const Torus& on)
      : Mind(on), place(on.steps * on.rows * on.cols), rows(place.size() + 1),
        around(on.rows * on.cols * MOVES), gain((on.steps + 1) * on.rows * on.cols),
        cells(on.rows * on.cols) {
    for (int cell = 0; cell < cells; cell++)
      for (int a = 0; a < MOVES; a++)
        around[cell * MOVES + a] = wrapped(cell / on.cols + a / 3 - 1, on.rows) * on.cols +
                                   wrapped(cell % on.cols + a % 3 - 1, on.cols);
    for (int set = 0; set < 1 << MOVES; set++)
      for (int a = 0, n = 0; a < MOVES; a++)
        if (set >> a & 1) nth[set][n++] = a;
    for (int half = -2; half <= 2; half++) worth[half + 2] = SCALE * (half / 2.0);
  }
  Row& row(int t, int cell) {
    u16& at = place[t * cells + cell];
    if (!at) {
      Row& fresh = rows[at = ++used];
      std::fill(fresh.value, fresh.value + MOVES, INITIAL);
      fresh.best = INITIAL;
      fresh.equal = (1 << MOVES) - 1;
    }
    return rows[at];
  }
  static void learn(Row& row, int action, double gain, double ahead) {
    double value = row.value[action];
    value += ALPHA * (gain + GAMMA * ahead - value);
    row.value[action] = value;
    u32 mine = 1u << action, others = row.equal & ~mine;
    if (value > row.best) {
      row.best = value;
      row.equal = mine;
    } else if (value == row.best) {
      row.equal = others | mine;
    } else if (others) {
      row.equal = others;
    } else {
      double best = row.value[0];
      for (int a = 1; a < MOVES; a++) best = row.value[a] > best ? row.value[a] : best;
      u32 equal = 0;
      for (int a = 0; a < MOVES; a++) equal |= u32(row.value[a] == best) << a;
      row.best = best;
      row.equal = equal;
    }
  }
  int choose(const Row& row, u64 key, u64 clock) const {
    int count = __builtin_popcount(row.equal);
    int pick = count > 1 ? below(word(key, clock, 0), count) : 0;
    return nth[row.equal][pick];
  }
  void rewards(Block& block, int l, int sign) {
    for (int t = 1; t <= on.steps; t++)
      for (int a = 0; a < MOVES; a++) {
        i8* of = &gain[t * cells];
        int good = block.good.row[t][l] * on.cols + block.good.col[t][l];
        int evil = block.evil.row[t][l] * on.cols + block.evil.col[t][l];
        of[around[good * MOVES + a]] += sign * (a == 4 ? 2 : 1);
        of[around[evil * MOVES + a]] -= sign * (a == 4 ? 2 : 1);
      }
  }
  void walk(Block& block, const u64* keys, int count) override {
    for (int l = 0; l < count; l++) {
      rewards(block, l, 1);
      std::fill(place.begin(), place.end(), 0);
      used = 0;
      int start = block.way.row[0][l] * on.cols + block.way.col[0][l];
      for (u64 play = 1; play <= SESSIONS; play++) {
        int cell = start;
        Row* here = &row(0, cell);
        for (int t = 0; t < on.steps; t++) {
          int action = choose(*here, keys[l], play * on.steps + t);
          cell = around[cell * MOVES + action];
          Row* next = t + 1 < on.steps ? &row(t + 1, cell) : nullptr;
          learn(*here, action, worth[gain[(t + 1) * cells + cell] + 2], next ? next->best : 0.0);
          here = next;
        }
      }
      for (int t = 0, cell = start; t < on.steps; t++) {
        cell = around[cell * MOVES + choose(row(t, cell), keys[l], t)];
        block.way.row[t + 1][l] = cell / on.cols;
        block.way.col[t + 1][l] = cell % on.cols;
      }
      rewards(block, l, -1);
    }
  }
};

// ---------------------------------------------------------------- whole exercises

// Rewards of one slot: scores, learning, and the sum of every step.
void settle(const Torus& on, const Block& block, int slot, i64 first, int count, Found& found) {
  i16 total[LANES] = {}, early[LANES] = {}, middle[LANES] = {};
  i8 rewards[LANES];
  const i64 half = on.steps / 2;
  for (int t = 1; t <= on.steps; t++) {
    const i8 *row = block.way.row[t], *col = block.way.col[t];
    const i8 *gr = block.good.row[t], *gc = block.good.col[t];
    const i8 *er = block.evil.row[t], *ec = block.evil.col[t];
    i8 rows = on.rows, cols = on.cols;
    for (int l = 0; l < LANES; l++)
      rewards[l] = worth(row[l], col[l], gr[l], gc[l], rows, cols) -
                   worth(row[l], col[l], er[l], ec[l], rows, cols);
    int sum = 0;
    for (int l = 0; l < count; l++) sum += rewards[l];
    found.curve[t - 1] += sum;
    for (int l = 0; l < LANES; l++) total[l] += rewards[l];
    if (t == half) std::copy(total, total + LANES, early);
    if (t == on.steps - half) std::copy(total, total + LANES, middle);
  }
  for (int l = 0; l < count; l++) {
    i64 at = (first + l) * on.agents + slot;
    found.score[at] = total[l] * 0.5 / on.steps;
    found.learning[at] = (total[l] - middle[l]) * 0.5 / half - early[l] * 0.5 / half;
  }
}

void play(const Torus& on, Mind& mind, u64 seed, i64 first, i64 last, Found& found) {
  Maker maker(on, seed);
  Block block(on);
  std::vector<Keys> streams;
  for (int slot = 0; slot < on.agents; slot++) streams.emplace_back(seed, MINDS + slot);
  alignas(64) u64 keys[LANES];
  for (i64 from = first; from < last; from += LANES) {
    int count = std::min<i64>(LANES, last - from);
    for (int l = 0; l < LANES; l++) maker.begin(block, l, from + l);
    maker.travel(block);
    mind.meet(block, count);
    for (int slot = 0; slot < on.agents; slot++) {
      for (int l = 0; l < LANES; l++) keys[l] = streams[slot].of(from + l);
      std::copy(block.start.row[slot], block.start.row[slot] + LANES, block.way.row[0]);
      std::copy(block.start.col[slot], block.start.col[slot] + LANES, block.way.col[0]);
      mind.walk(block, keys, count);
      settle(on, block, slot, from - first, count, found);
    }
  }
}

template <class M>
void play(const Torus& on, u64 seed, i64 first, i64 last, Found& found) {
  M mind(on);
  play(on, mind, seed, first, last, found);
}

}  // namespace

extern "C" void torus(const Torus* on, int who, u64 seed, i64 first, i64 last, Found* found) {
  switch (who) {
    case 0: return play<RandomMind>(*on, seed, first, last, *found);
    case 1: return play<LocalSearch>(*on, seed, first, last, *found);
    case 2: return play<Optimum>(*on, seed, first, last, *found);
    case 3: return play<QLearning>(*on, seed, first, last, *found);
  }
}
