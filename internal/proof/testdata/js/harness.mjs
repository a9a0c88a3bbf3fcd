// A harness in JavaScript: imports the case, calls it on each set, prints what
// it did and which requirement that violates.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { handler } = await import(pathToFileURL(process.argv[2]));
for await (const line of createInterface({ input: process.stdin })) {
  const { params } = JSON.parse(line);
  const notes = { 1: { owner: "ann", text: "milk" }, 2: { owner: "bob", text: "bread" } };
  let effect = null, error = "";
  const violated = [];
  try {
    effect = await handler({ user: params.user, query: { id: params.id } }, notes);
  } catch (e) {
    error = String(e);
  }
  if (effect?.body?.owner && effect.body.owner !== params.user) violated.push({ requirement: 1, why: "shows a note of " + effect.body.owner });
  console.log(JSON.stringify({ effect, violated, error }));
}
