/** Mistakes in agents that become environments. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of modules
import { type Mistake, mistakesIn } from './mistake.ts';

const agent = `
import { defineAgentEnv } from '@toolenv/gateway';

async function capitalOf(country: string, baseURL: string, apiKey: string): Promise<string> {
  const response = await fetch(\`\${baseURL}/chat/completions\`, {
    method: 'POST',
    headers: { authorization: \`Bearer \${apiKey}\`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'policy', messages: [{ role: 'user', content: \`The capital of \${country}?\` }] }),
  });
  if (!response.ok) throw new Error(await response.text());
  const { choices } = (await response.json()) as { choices: [{ message: { content: string } }] };
  return choices[0].message.content;
}

export default defineAgentEnv({
  name: 'capitals-v1',
  description: 'Names the capital of a country.',
  capabilities: { seedable: true },
  limits: { maxTurns: 4 },
  tasks: { train: [{ country: 'Peru', capital: 'Lima' }, { country: 'Kenya', capital: 'Nairobi' }] },
  agent: ({ task, baseURL, apiKey }) => capitalOf(task.country, baseURL, apiKey),
  rewards: { right: { kind: 'outcome', score: ({ result, task }) => Number(result === task.capital) } },
  oracle: ({ capital }) => [capital],
});
`;

export const right: Readonly<Record<string, string>> = { agent };

export const mistakes: readonly Mistake[] = mistakesIn(agent, {
  'an agent without a request': [
    [
      'capitalOf(task.country, baseURL, apiKey)',
      '`${task.capital}${baseURL}${apiKey}`.slice(0, 0) + task.capital',
    ],
    /ended without a request: give its client the baseURL/,
  ],
  'an agent at a wrong address': [
    ['${baseURL}/chat/completions', '${baseURL}/completions'],
    /POST \/v1\/completions is not served, but POST \/v1\/chat\/completions/,
  ],
  'an agent without its key': [['authorization: `Bearer ${apiKey}`, ', ''], /No episode has this key/],
  'an agent without a return': [
    [
      '=> capitalOf(task.country, baseURL, apiKey)',
      // Its request fails when the episode has ended, which is the agent's own affair.
      '=> { capitalOf(task.country, baseURL, apiKey).catch(() => {}); }',
    ],
    ['result === task.capital', '(result as unknown) === task.capital'],
    /ended without a request/,
  ],
  'tools of a ToolEnv in an agent': [
    ['agent: (', 'tools: [],\n  agent: ('],
    /unknown part "tools"\. Parts: /,
  ],
  'answer for result': [
    ['({ result, task }) => Number(result', '({ results, task }) => Number(results'],
    /"right" 1 for the oracle on [\s\S]*received \{"right":0\}/,
  ],
});
