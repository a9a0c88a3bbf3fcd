// Has a conversation with one tool by a provider's own SDK: node sdks.mjs API stream|whole URL
import { createRequire } from "node:module";
const require = createRequire(process.env.SDKS + "/x");
const [api, mode, url] = process.argv.slice(2);
const stream = mode === "stream";
const parameters = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };
const run = (args) => {
  if (!args.command.includes("canary.txt")) throw new Error("asked to run " + args.command);
  return "the tree is read 4711";
};

async function chat() {
  const { default: OpenAI } = require("openai");
  const client = new OpenAI({ apiKey: "sk-test", baseURL: url, maxRetries: 0 });
  const tools = [{ type: "function", function: { name: "bash", parameters } }];
  const messages = [{ role: "user", content: "Audit." }];
  for (;;) {
    const ask = { model: "m", messages, tools };
    const done = stream
      ? await client.chat.completions.stream(ask).finalChatCompletion()
      : await client.chat.completions.create(ask);
    const said = done.choices[0].message;
    if (!said.tool_calls?.length) return said.content;
    messages.push(said);
    for (const c of said.tool_calls)
      messages.push({ role: "tool", tool_call_id: c.id, content: run(JSON.parse(c.function.arguments)) });
  }
}

async function responses() {
  const { default: OpenAI } = require("openai");
  const client = new OpenAI({ apiKey: "sk-test", baseURL: url, maxRetries: 0 });
  const tools = [{ type: "function", name: "bash", parameters, strict: false }];
  const input = [{ role: "user", content: "Audit." }];
  for (;;) {
    const ask = { model: "m", input, tools, store: false };
    const done = stream ? await client.responses.stream(ask).finalResponse() : await client.responses.create(ask);
    const calls = done.output.filter((i) => i.type === "function_call");
    if (!calls.length) return done.output_text;
    input.push(...done.output);
    for (const c of calls)
      input.push({ type: "function_call_output", call_id: c.call_id, output: run(JSON.parse(c.arguments)) });
  }
}

async function messages() {
  const { default: Anthropic } = require("@anthropic-ai/sdk");
  const client = new Anthropic({ apiKey: "sk-test", baseURL: url.replace(/\/v1$/, ""), maxRetries: 0 });
  const tools = [{ name: "bash", input_schema: parameters }];
  const said = [{ role: "user", content: "Audit." }];
  for (;;) {
    const ask = { model: "m", max_tokens: 1000, messages: said, tools };
    const done = stream ? await client.messages.stream(ask).finalMessage() : await client.messages.create(ask);
    const calls = done.content.filter((b) => b.type === "tool_use");
    if (!calls.length) return done.content.map((b) => b.text ?? "").join("");
    said.push({ role: "assistant", content: done.content });
    said.push({ role: "user", content: calls.map((c) => ({ type: "tool_result", tool_use_id: c.id, content: run(c.input) })) });
  }
}

console.log(await { chat, responses, messages }[api]());
