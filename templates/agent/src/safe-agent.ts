/** The agent. It asks a model, tries codes and returns its answer. Nothing in it is made for training: replace it with your own. */

/** Where the model is. Any server of chat completions will do. */
export interface Model {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly signal?: AbortSignal;
}

interface Said {
  content: string | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
}

const tool = {
  name: 'try_code',
  description: 'Try a code. Says whether the right one is higher or lower.',
  parameters: { type: 'object', properties: { code: { type: 'integer' } }, required: ['code'] },
};

/** @param tryCode What a try finds. */
export async function findCode(tryCode: (code: number) => string, model: Model): Promise<string> {
  const messages: object[] = [
    {
      role: 'user',
      content: 'The code of the safe is a number of three digits. Find it, then answer with it alone.',
    },
  ];
  for (;;) {
    const { content, tool_calls: calls, ...said } = await ask(messages, model);
    messages.push({ ...said, content, ...(calls && { tool_calls: calls }) });
    if (!calls) return content ?? '';
    for (const { id, function: called } of calls)
      messages.push({ role: 'tool', tool_call_id: id, content: answer(called, tryCode) });
  }
}

async function ask(messages: readonly object[], { baseURL, apiKey, signal }: Model): Promise<Said> {
  const response = await fetch(`${baseURL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'policy', messages, tools: [{ type: 'function', function: tool }] }),
    ...(signal && { signal }),
  });
  if (!response.ok) throw new Error(await response.text());
  const { choices } = (await response.json()) as { choices: [{ message: Said }] };
  return choices[0].message;
}

/** A mistake of the model is an answer, from which it can learn. It is no error. */
function answer(called: { name: string; arguments: string }, tryCode: (code: number) => string): string {
  if (called.name !== tool.name) return `There is no such tool. The tool is ${tool.name}.`;
  const { code } = JSON.parse(called.arguments) as { code?: unknown };
  return Number.isInteger(code) ? tryCode(code as number) : 'The code must be a whole number.';
}
