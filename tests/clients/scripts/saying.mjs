// Runs inside a client's own environment: says what a call gave, and waits until the phone has been looked at.
import readline from "node:readline";

const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();

export async function call(name, run) {
  let said;
  let value;
  try {
    value = await run();
    said = { call: name, value: value === undefined ? null : value };
  } catch (e) {
    said = { call: name, error: `${e.name}: ${e.message}` };
  }
  process.stdout.write(`\n@@${JSON.stringify(said)}\n`);
  if ((await lines.next()).done) process.exit(1);
  return value;
}
