/** Clients of models: `toolenv serve --openai`, and an agent that is a program behind the gateway. */
import { setTimeout as sleep } from 'node:timers/promises';
import { loadPolicy } from '@toolenv/policy';
import { runCli, startCli } from './cli.ts';
import { conversationOf, newTokens } from './parity.ts';
import { questions } from './prompts.ts';
import type { Report } from './report.ts';

const agent = './examples/agents/command.ts';

/** A served answer is the policy's own. */
export async function checkServe(folder: string, report: Report): Promise<void> {
  const server = startCli('serve', '--openai', folder, '--http', '0');
  const ended = server.finished.catch(String);
  try {
    const url = await urlOf(server);
    const asked = questions.slice(0, 3);
    const theirs: string[] = [];
    const begun = performance.now();
    for (const question of asked) {
      const body = { model: 'policy', temperature: 0, max_tokens: newTokens, ...conversationOf(question) };
      const response = await fetch(`${url}/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer any' },
        body: JSON.stringify({ ...body, tools: undefined }),
      });
      if (!response.ok) throw new Error(await response.text());
      const { choices } = (await response.json()) as { choices: [{ message: { content: string } }] };
      theirs.push(choices[0].message.content);
    }
    const seconds = (performance.now() - begun) / 1000;
    await using policy = await loadPolicy(folder);
    const sampling = { maxTokens: newTokens, temperature: 0, seed: 1 };
    const ours = await Promise.all(asked.map((question) => policy.act(conversationOf(question), sampling)));
    const equal = theirs.filter((text, index) => text === ours[index]!.text).length;
    report.check(
      equal === asked.length,
      'serve --openai',
      `${equal} of ${asked.length} answers equal, ${seconds.toFixed(1)} s: ${JSON.stringify(theirs[0])}`,
    );
  } finally {
    server.child.kill('SIGTERM');
    await ended;
  }
}

/** Episodes of a program that finds its model in OPENAI_BASE_URL. */
export async function checkAgent(folder: string, report: Report): Promise<void> {
  const { stdout, seconds } = await runCli(
    ...['eval', agent, '--policy', folder, '--count', '2', '--max-tokens', '64', '--json'],
  );
  const { episodes, aborted, tokens, outcomes } = JSON.parse(stdout);
  report.check(
    episodes === 2 && aborted === 0 && tokens > 0,
    'an agent behind the gateway',
    `${episodes} episodes, ${tokens} tokens, ${JSON.stringify(outcomes)}, ${seconds.toFixed(0)} s`,
  );
}

async function urlOf({ child, said }: ReturnType<typeof startCli>): Promise<string> {
  while (child.exitCode === null) {
    const url = /OPENAI_BASE_URL=(\S+)/.exec(said())?.[1];
    if (url !== undefined) return url;
    await sleep(50);
  }
  throw new Error(`The server ended: ${said().slice(-1000)}`);
}
