// Λ by hand: spaces, patterns, ways and Q-learning, exercise after exercise; K is not measured.
#include "words.hpp"

namespace {

constexpr int MOST = 9, ATTEMPTS = 1'000'000, LONGEST = 4096;
constexpr double ALPHA = 0.05, GAMMA = 0.35, INITIAL = 2.0;

struct Space {
  int cells, actions;
  u8 to[MOST][MOST];
};

bool all_found(const u16* ways, int cells) {
  unsigned found = 1, waiting = 1;
  while (waiting) {
    unsigned ahead = 0;
    for (int cell = 0; cell < cells; cell++)
      if (waiting >> cell & 1) ahead |= ways[cell];
    waiting = ahead & ~found;
    found |= waiting;
  }
  return found == (1u << cells) - 1;
}

bool draw_space(u64 making, Space& space) {
  const int cells = space.cells;
  for (u64 attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const int actions = space.actions = 2 + below(word(making, attempt, 0), cells - 1);
    u16 ahead[MOST] = {}, back[MOST] = {};
    for (int cell = 0; cell < cells; cell++) {
      space.to[cell][0] = cell;
      for (int action = 1; action < actions; action++) {
        int goal = below(word(making, attempt, cell * (actions - 1) + action), cells);
        space.to[cell][action] = goal;
        ahead[cell] |= 1 << goal;
        back[goal] |= 1 << cell;
      }
    }
    if (all_found(ahead, cells) && all_found(back, cells)) return true;
  }
  return false;
}

int draw_pattern(u64 key, int actions, double stop, u8* digits) {
  for (int size = 0;;) {
    digits[size] = below(word(key, 0, 2 * size), actions);
    size++;
    if (unit(word(key, 0, 2 * size - 1)) < stop || size == LONGEST) return size;
  }
}

struct Learner {
  struct Row {
    double value[MOST], best;
    u32 equal;
    i64 met;
  };
  std::vector<Row> rows = std::vector<Row>(MOST * MOST * MOST, Row{{}, 0.0, 0, -1});
  u8 nth[1 << MOST][MOST];
  Learner() {
    for (int set = 0; set < 1 << MOST; set++)
      for (int a = 0, n = 0; a < MOST; a++)
        if (set >> a & 1) nth[set][n++] = a;
  }
  Row& row(i64 exercise, int actions, int good, int evil, int cell) {
    Row& of = rows[(good * MOST + evil) * MOST + cell];
    if (of.met != exercise) {
      of.met = exercise;
      for (int a = 0; a < actions; a++) of.value[a] = INITIAL;
      of.best = INITIAL;
      of.equal = (1u << actions) - 1;
    }
    return of;
  }
  static void learn(Row& row, int actions, int action, double gain, double ahead) {
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
      for (int a = 1; a < actions; a++) best = row.value[a] > best ? row.value[a] : best;
      u32 equal = 0;
      for (int a = 0; a < actions; a++) equal |= u32(row.value[a] == best) << a;
      row.best = best;
      row.equal = equal;
    }
  }
  int choose(const Row& row, u64 key, u64 step) const {
    return nth[row.equal][below(word(key, step, 0), __builtin_popcount(row.equal))];
  }
};

}  // namespace

// Scores of exercises first..last-1, whose sizes go round; returns whether all have a space.
extern "C" int cells(const i64* sizes, i64 count, u64 seed, i64 first, i64 last, double* score) {
  Keys making(seed, MAKING), world(seed, WORLD), mind(seed, MINDS);
  static Learner learner;
  for (auto& row : learner.rows) row.met = -1;
  u8 digits[LONGEST];
  Space space;
  for (i64 n = first; n < last; n++) {
    u64 key = making.of(n), moving = world.of(n), mine = mind.of(n);
    space.cells = sizes[n % count];
    if (!draw_space(key, space)) return 0;
    int size = draw_pattern(fold(key, 1), space.actions, 1.0 / space.cells, digits);
    int good = below(word(moving, 0, 0), space.cells);
    int evil = below(word(moving, 0, 1), space.cells - 1);
    evil += evil >= good;
    int cell = below(word(moving, 0, 2), space.cells), total = 0;
    const int steps = 10 * (space.cells - 1);
    Learner::Row* here = &learner.row(n, space.actions, good, evil, cell);
    for (int t = 1, at = 0; t <= steps; t++) {
      int action = learner.choose(*here, mine, t - 1);
      cell = space.to[cell][action];
      int to_good = space.to[good][digits[at]], to_evil = space.to[evil][digits[at]];
      at = at + 1 < size ? at + 1 : 0;
      if (to_good != to_evil) {
        good = to_good;
        evil = to_evil;
      } else if (to_good == good || (to_evil != evil && below(word(moving, t, 0), 2) == 0)) {
        good = to_good;
      } else {
        evil = to_evil;
      }
      int reward = (cell == good) - (cell == evil);
      total += reward;
      if (t == steps) break;  // what is learnt last is of no use
      Learner::Row* next = &learner.row(n, space.actions, good, evil, cell);
      learner.learn(*here, space.actions, action, reward + 1.0, next->best);
      here = next;
    }
    score[n - first] = double(total) / steps;
  }
  return 1;
}
