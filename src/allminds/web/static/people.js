// What the screens gain from a script; without it every form still works.
//
// A choice is sent when it is made, and the screen goes on when the server has answered: nothing
// is ever left to send. The server knows which step is the current one, so that a choice may be
// sent again until it is answered and still counts once.

const SETTLE = 250; // ms after a paint in which no choice is taken, against double clicks
const GLIDE = 260; // ms that shapes take to their new cells
const WAITS = [500, 1000, 2000, 4000, 8000]; // ms before a choice is sent again
const GRACE = 1600; // ms after the end of the time, in which a choice may still arrive
const TWICE = 2000; // ms in which the same form is not sent again
const LOOKS = [1000, 1000, 1000, 1500, 2000, 3000]; // ms between looks for another person's move
const PATIENCE = 10_000; // ms for one try
const PAD = { 7: 1, 8: 2, 9: 3, 4: 4, 5: 5, 6: 6, 1: 7, 2: 8, 3: 9 }; // number pad, by place

// Registered first and on the window, so that it comes before whatever acts on the same event.
let input = { time: 0, kind: "", held: false };
for (const type of ["keydown", "pointerdown"]) {
  window.addEventListener(type, (event) => {
    input = {
      time: event.timeStamp,
      kind: event.pointerType ?? "keyboard",
      held: Boolean(event.repeat),
    };
  }, { capture: true, passive: true });
}

let shown = Infinity; // when the present screen was painted
let sending = false;
let picks = []; // what was selected on this screen before it was confirmed
const get = (selector) => document.querySelector(selector);
const main = () => get("main");
const at = (time) => (performance.timeOrigin + time).toFixed(1); // by the person's own clock
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// ---------------------------------------------------------------- one screen

/** Start the clock of the screen that is there now. */
function begin() {
  const screen = main();
  shown = Infinity;
  document.title = screen.dataset.title ?? document.title;
  get("#status").textContent = screen.dataset.status ?? "";
  requestAnimationFrame(() => requestAnimationFrame(() => {
    shown = performance.now();
    setTimeout(() => { screen.dataset.open = ""; }, SETTLE);
  }));
  document.documentElement.dataset.ready = "";
  picks = [];
  look(screen, 0);
  count(screen);
}

/** Count the seconds down; when the time is over, ask the server, whose clock decides. */
function count(screen) {
  const told = screen.querySelector("[data-left]");
  if (!told) return;
  const end = performance.now() + Number(told.dataset.left);
  const tick = () => {
    if (screen !== main()) return;
    const left = end - performance.now();
    told.querySelector("b").textContent = Math.max(0, Math.ceil(left / 1000));
    told.classList.toggle("soon", left < 5000);
    if (left > 0) setTimeout(tick, Math.min(250, left));
    else setTimeout(() => over(screen, 0), GRACE);
  };
  tick();
}

/** Go on from an exercise whose time is over; the server may need a moment more to see it. */
async function over(screen, times) {
  if (screen !== main() || sending) return;
  const answer = await tried();
  if (screen !== main() || sending) return;
  const same = answer?.html && String(answer.exercise) === screen.dataset.exercise
    && String(answer.step) === screen.dataset.step;
  if (answer?.html && !same) show(answer.html);
  else if (answer && !answer.html) location.reload();
  else setTimeout(() => over(screen, times + 1), WAITS[Math.min(times, WAITS.length - 1)]);
}

/** Put the server's answer in place of the screen, and keep what the person had there. */
function show(html) {
  const old = main();
  const made = document.createElement("template");
  made.innerHTML = html;
  const fresh = made.content.querySelector("main");
  const same = old.dataset.exercise !== undefined && old.dataset.exercise === fresh.dataset.exercise;
  const places = new Map(
    [...old.querySelectorAll("[data-glide]")].map((shape) => [shape.dataset.glide, box(shape)]),
  );
  const focused = document.activeElement?.dataset?.key;
  for (const details of fresh.querySelectorAll("details")) {
    details.open = same && Boolean(old.querySelector(`#${details.id}`)?.open);
  }
  old.replaceWith(fresh);
  if (same) {
    const cell = focused && fresh.querySelector(`button[data-key="${focused}"]`);
    (cell || fresh.querySelector(".board") || fresh.querySelector("h1")).focus({ preventScroll: true });
    if (!still()) glide(fresh, places);
  } else {
    fresh.querySelector("h1").focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }
  begin();
}

const box = (element) => element.getBoundingClientRect();

/** Shapes glide from where they were; the cells round about shift against the move. */
function glide(fresh, places) {
  const from = (element, x, y) => (x || y) && element.animate(
    [{ transform: `translate(${x}px, ${y}px)` }, { transform: "none" }],
    { duration: GLIDE, easing: "ease-in-out" },
  );
  for (const shape of fresh.querySelectorAll("[data-glide]")) {
    const [before, now] = [places.get(shape.dataset.glide), box(shape)];
    if (before) from(shape, before.x - now.x, before.y - now.y);
  }
  const board = fresh.querySelector("[data-shift]");
  if (board) {
    const [x, y] = board.dataset.shift.split(" ").map(Number);
    const { width, height } = box(board.firstElementChild);
    for (const cell of board.children) from(cell, x * width, y * height);
  }
}

// ---------------------------------------------------------------- one choice

/** Send a choice until it is answered, and go on from the answer. */
async function send(body) {
  sending = true;
  main().setAttribute("aria-busy", "true");
  for (let attempt = 0; ; attempt += 1) {
    const answer = await tried(body);
    if (answer) {
      sending = false;
      get("#offline").hidden = true;
      if (answer.html) show(answer.html);
      else location.reload(); // the server has something else to say
      return;
    }
    get("#offline").hidden = false;
    await pause(WAITS[Math.min(attempt, WAITS.length - 1)]);
  }
}

/** The server's answer; null if there was none and it is worth another try. */
async function tried(body) {
  try {
    const reply = await fetch(body ? "/choice" : "/", {
      method: body ? "POST" : "GET",
      body,
      headers: { Accept: "application/json" },
      signal: AbortSignal.timeout(PATIENCE),
    });
    if (reply.status >= 500 || reply.status === 429) return null;
    return reply.ok ? await reply.json() : {};
  } catch {
    return null;
  }
}

/** Wait, or less if the line is back or the person cannot wait. */
function pause(time) {
  return new Promise((resolve) => {
    const stop = new AbortController();
    const go = () => { clearTimeout(timer); stop.abort(); resolve(); };
    const timer = setTimeout(go, time);
    get("#offline button").addEventListener("click", go, { signal: stop.signal });
    window.addEventListener("online", go, { signal: stop.signal });
  });
}

/** While another person is awaited, ask now and then whether there is news; ever less often. */
function look(screen, times) {
  if (!("wait" in screen.dataset)) return;
  setTimeout(async () => {
    if (screen !== main()) return;
    const answer = await tried();
    if (screen !== main()) return;
    const news = answer?.html && ["screen", "exercise", "step", "state"].some(
      (key) => String(answer[key] ?? "") !== (screen.dataset[key] ?? ""),
    );
    if (news) show(answer.html);
    else if (answer && !answer.html) location.reload();
    else look(screen, times + 1);
  }, LOOKS[Math.min(times, LOOKS.length - 1)]);
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.id !== "choice") {
    const again = event.timeStamp - Number(form.dataset.sent ?? -TWICE) < TWICE;
    if (again) event.preventDefault(); // a second click on the way to the next page
    else form.dataset.sent = event.timeStamp;
    return;
  }
  event.preventDefault();
  const made = input.time >= shown ? input : { time: event.timeStamp, kind: "other" };
  if (sending || made.held || !(made.time - shown >= SETTLE)) return;
  const body = new URLSearchParams(new FormData(form));
  if (event.submitter?.name) {
    body.set(event.submitter.name, event.submitter.value);
    event.submitter.classList.add("chosen");
  }
  body.set("rt_ms", (made.time - shown).toFixed(1));
  body.set("input", made.kind);
  body.set("client_ts", at(made.time));
  body.set("first", picks[0] ?? body.get("choice") ?? "");
  body.set("changes", Math.max(0, picks.length - 1));
  send(body);
});

document.addEventListener("change", (event) => {
  if (event.target.name === "choice") picks.push(event.target.value);
  const blank = get("[data-blank]");
  if (!blank || !event.target.dataset.fill) return;
  blank.textContent = event.target.dataset.fill;
  blank.classList.add("filled");
});

// ---------------------------------------------------------------- keys

const keys = get("#shortcuts");
if (keys) {
  keys.closest("[hidden]").hidden = false;
  keys.checked = remembered() !== "off";
  keys.addEventListener("change", () => {
    remembered(keys.checked ? "on" : "off");
    markKeys();
  });
}

/** Whether keys are wanted, kept in this browser; nothing where it keeps nothing. */
function remembered(value) {
  try {
    if (value) localStorage.setItem("shortcuts", value);
    return localStorage.getItem("shortcuts");
  } catch {
    return null;
  }
}

/** Hints about keys show only while there are keys. */
function markKeys() {
  document.documentElement.classList.toggle("with-keys", Boolean(keys?.checked));
}

/** What a key says: digits by their place, whatever the layout; letters as they are printed. */
function said(event) {
  const digit = /^(Digit|Numpad)([1-9])$/.exec(event.code);
  if (!digit) return event.key.toLowerCase();
  return digit[1] === "Numpad" && ["torus", "noughts"].includes(main().dataset.kind) ? PAD[digit[2]] : digit[2];
}

document.addEventListener("keydown", (event) => {
  const form = get("#choice");
  const held = event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat;
  const elsewhere = event.target.closest("select, textarea, input:not([name=choice])");
  if (!form || !keys?.checked || held || elsewhere) return;
  if (event.key === "Enter") {
    const own = event.target.closest("button, a, summary, input");
    if (!own && form.querySelector("input:checked")) form.requestSubmit();
    return;
  }
  const name = CSS.escape(said(event));
  const goal = form.querySelector(`[data-key="${name}"], [data-digit="${name}"]`);
  if (!goal) return;
  event.preventDefault();
  if (goal.type === "radio") {
    goal.focus();
    goal.click();
  } else form.requestSubmit(goal);
});

// ---------------------------------------------------------------- what the researcher is told

/** That something happened which may explain a time or an answer. */
function note(kind) {
  const form = get("#choice");
  if (!form) return;
  const body = { kind, ms: at(performance.now()), token: form.elements.token.value };
  navigator.sendBeacon("/note", new URLSearchParams(body));
}

window.addEventListener("focus", () => note("focus"));
window.addEventListener("blur", () => note("blur"));
document.addEventListener("visibilitychange", () => note(document.hidden ? "hidden" : "visible"));
document.addEventListener("paste", () => note("paste"));
window.addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload(); // the page of an earlier step, out of the browser's memory
});

// ---------------------------------------------------------------- begin

for (const joining of document.querySelectorAll("form[data-device]")) {
  joining.elements.viewport.value = `${innerWidth}x${innerHeight}`;
  joining.elements.pointer.value = matchMedia("(pointer: coarse)").matches ? "coarse" : "fine";
}
markKeys();
begin();
