/** An agent that does everything beside one straight conversation: helpers at once, a compaction, best of three and a retry. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { QuestionAgent, QuestionAgentContext } from '../agents/question-agent.ts';

interface Said {
  role: 'assistant';
  content: string | null;
}
type Sent = Said | { role: 'system' | 'user'; content: string };

async function ask(
  { baseURL, apiKey, signal: ended }: QuestionAgentContext,
  messages: readonly Sent[],
  signal?: AbortSignal,
): Promise<Said> {
  const response = await fetch(`${baseURL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ messages }),
    signal: signal ? AbortSignal.any([ended, signal]) : ended,
  });
  const { choices } = (await response.json()) as { choices: { message: Said }[] };
  return choices[0]!.message;
}

/**
 * @param options.pause Milliseconds that its steps may take beyond the policy's time, at random.
 * @param options.retries Whether it leaves once, and asks again. A client that leaves while its answer is under way may get that answer or another.
 */
export function branchingAgent({ pause = 0, retries = true } = {}): QuestionAgent {
  const wait = () => (pause > 0 ? sleep(pause * Math.random()) : undefined);
  return async (context) => {
    const begun: Sent[] = [
      { role: 'system', content: context.instructions },
      { role: 'user', content: context.question },
    ];
    const first = await ask(context, begun);
    const helpers = ['who', 'where', 'when'].map(async (word) => {
      const helped: Sent[] = [
        { role: 'system', content: 'Help .' },
        { role: 'user', content: `${word} ? ${context.question}` },
      ];
      await wait();
      const said = await ask(context, helped);
      await wait();
      return ask(context, [...helped, said, { role: 'user', content: 'more ?' }]);
    });
    await Promise.all(helpers);
    const history: Sent[] = [...begun, first, { role: 'user', content: 'go on .' }];
    // Leaves before the answer, and asks again.
    const leaving = new AbortController();
    if (retries) setTimeout(() => leaving.abort(), 5);
    const second = await ask(context, history, leaving.signal).catch(() => ask(context, history));
    const vote: Sent[] = [...history, second, { role: 'user', content: 'vote .' }];
    await Promise.all([1, 2, 3].map(() => ask(context, vote)));
    const summary: Sent[] = [begun[0]!, { role: 'user', content: `a summary : ${context.question}` }];
    const last = await ask(context, summary);
    return last.content ?? '';
  };
}

/** An agent that talks for ten turns and leaves before this share of its answers, to ask again. */
export function lossyAgent(share: number): QuestionAgent {
  return async (context) => {
    const messages: Sent[] = [
      { role: 'system', content: context.instructions },
      { role: 'user', content: context.question },
    ];
    for (let turn = 0; turn < 10; turn++) {
      const leaving = new AbortController();
      if (Math.random() < share) setTimeout(() => leaving.abort(), 30 * Math.random());
      const said = await ask(context, messages, leaving.signal).catch(() => ask(context, messages));
      messages.push(said, { role: 'user', content: 'go on .' });
    }
    return '';
  };
}
