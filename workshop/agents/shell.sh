#!/usr/bin/env bash
# An agent in bash, curl and node: asks the model, runs its searches, and prints its last answer.
# OPENAI_BASE_URL, OPENAI_API_KEY, QUESTION and INSTRUCTIONS are required. SEARCH_URL answers a POST of the arguments with a text.
# SEARCH_TOOL is the JSON of the function, MAX_TURNS the most requests, and STREAM=1 streams the answers.
set -euo pipefail

# Prints the body of the next request, for messages on standard input.
request_body() {
  node -e '
const messages = JSON.parse(require("fs").readFileSync(0, "utf8"));
const { SEARCH_TOOL, STREAM } = process.env;
const tools = [{ type: "function", function: JSON.parse(SEARCH_TOOL) }];
console.log(JSON.stringify({ model: "policy", messages, tools, stream: STREAM === "1" }));
'
}

# Prints the message of a response on standard input, whether it was streamed or not.
answer_message() {
  node -e '
const text = require("fs").readFileSync(0, "utf8");
if (process.env.STREAM !== "1") {
  console.log(JSON.stringify(JSON.parse(text).choices[0].message));
  process.exit();
}
const message = { role: "assistant", content: null };
const events = text.split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
if (events.pop() !== "[DONE]") throw new Error("The stream broke off.");
for (const event of events) {
  const { delta } = JSON.parse(event).choices[0] ?? {};
  if (delta?.content) message.content = (message.content ?? "") + delta.content;
  for (const { index, id, function: part } of delta?.tool_calls ?? []) {
    const calls = (message.tool_calls ??= []);
    calls[index] ??= { id, type: "function", function: { name: part.name, arguments: "" } };
    calls[index].function.arguments += part.arguments ?? "";
  }
}
console.log(JSON.stringify(message));
'
}

# Prints JSON lines on standard input as one array.
array_of_lines() {
  node -e 'console.log(`[${require("fs").readFileSync(0, "utf8").trim().split("\n").join(",")}]`)'
}

lines=$(node -e '
const { INSTRUCTIONS, QUESTION } = process.env;
console.log(JSON.stringify({ role: "system", content: INSTRUCTIONS }));
console.log(JSON.stringify({ role: "user", content: QUESTION }));
')
for ((turn = 1; turn <= ${MAX_TURNS:-10}; turn++)); do
  message=$(array_of_lines <<< "$lines" | request_body | curl -sSN --fail-with-body "$OPENAI_BASE_URL/chat/completions" \
    -H "authorization: Bearer $OPENAI_API_KEY" -H 'content-type: application/json' --data-binary @- | answer_message)
  lines+=$'\n'$message
  calls=$(node -e '
for (const call of JSON.parse(require("fs").readFileSync(0, "utf8")).tool_calls ?? [])
  console.log(`${call.id}\t${JSON.stringify(JSON.parse(call.function.arguments))}`);
' <<< "$message")
  [ -n "$calls" ] || break
  while IFS=$'\t' read -r id arguments; do
    lines+=$'\n'$(curl -sS --fail-with-body "$SEARCH_URL" -H 'content-type: application/json' --data-binary "$arguments" | node -e '
const content = require("fs").readFileSync(0, "utf8");
console.log(JSON.stringify({ role: "tool", tool_call_id: process.argv[1], content }));
' "$id")
  done <<< "$calls"
done
node -e 'process.stdout.write(JSON.parse(require("fs").readFileSync(0, "utf8")).content ?? "")' <<< "$message"
