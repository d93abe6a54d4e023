/** A stand-in for a server of the API of OpenAI that judges: it reads the quality in a text, and may answer oddly. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the server was asked, and the number of the question. */
export interface Asked {
  system: string;
  material: string;
  number: number;
}

/** A text is the reply. A function answers by itself. */
export type Reply =
  | string
  | { text: string; finish?: string; calls?: unknown[] }
  | ((response: ServerResponse) => void);

export interface JudgeServer extends AsyncDisposable {
  /** The name of the judge. */
  model: string;
  asked: Asked[];
}

export async function startJudgeServer(answer: (asked: Asked) => Reply): Promise<JudgeServer> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
      const json = (value: unknown) =>
        response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
      if (request.method === 'GET') return void json({ data: [{ id: 'judge', max_model_len: 100_000 }] });
      const { messages } = JSON.parse(body) as { messages: { content: string }[] };
      const [system = '', material = ''] = messages.map(({ content }) => content);
      // The questions of the opening are not those of a judge.
      const isQuestion = system.startsWith('You are a judge.');
      const reply = isQuestion
        ? answer(asked[asked.push({ system, material, number: asked.length }) - 1]!)
        : 'Hello';
      if (typeof reply === 'function') return reply(response);
      const { text, finish = 'stop', calls } = typeof reply === 'string' ? { text: reply } : { ...reply };
      const message = { role: 'assistant', content: text, ...(calls && { tool_calls: calls }) };
      json({
        choices: [{ message, finish_reason: finish }],
        usage: { prompt_tokens: 100, completion_tokens: 10 },
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    model: `openai:http://127.0.0.1:${port}/v1#judge?toolCalls=text&requestRetries=0`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The beginnings of the lines that the judge must write. */
export function linesOf({ system }: Pick<Asked, 'system'>): string[] {
  return [...new Set([...system.matchAll(/^(Verdict .*:) <verdict>$/gm)].map(([, line]) => line!))];
}
