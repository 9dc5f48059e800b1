// A mind in another language: it goes where the most reward lies, and stays if it sees none.
//
//   allminds evaluate lambda-star --mind "program(node,examples/mind.js)" --episodes 20
//
// It reads one JSON object a line and answers those of type "act"; see docs/bridges.md.

const lines = require("readline").createInterface({ input: process.stdin });

const STAY = 5; // actions 1..9 are the cells around it in reading order

function choose(rewards) {
  const best = Math.max(...rewards);
  return best > 0 ? rewards.indexOf(best) + 1 : STAY;
}

lines.on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type !== "act") return;
  const action = choose(message.observation.rewards);
  process.stdout.write(JSON.stringify({ action }) + "\n");
});
