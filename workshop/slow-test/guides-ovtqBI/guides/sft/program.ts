export {};
import { appendFile, writeFile } from 'node:fs/promises';

const example = (question: string, query: string, found: string, answer: string) => ({
  messages: [
    { role: 'user', content: question },
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'search', arguments: JSON.stringify({ query }) } }],
    },
    { role: 'tool', tool_call_id: 'a', content: found },
    { role: 'assistant', content: `<answer>${answer}</answer>` },
  ],
});
const lines = [
  example('Who leads the company?', 'the company', 'The company: Selinda leads it.', 'Selinda'),
  example('Where is the river?', 'the river', 'The river: it is in Talia.', 'Talia'),
];
await writeFile('examples.jsonl', lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
console.log('␞');

import { loadPolicy } from '@toolenv/policy';
import { sft } from '@toolenv/trainer-sft';
import { train } from '@toolenv/training';

await using policy = await loadPolicy('my-checkpoint');
const trainer = sft({ learningRate: 1e-3, batchSize: 2, epochs: 4 });
for await (const event of train({ policy, trainer, data: 'examples.jsonl', out: 'runs/sft' })) {
  if (event.type === 'update') console.log(`step ${event.step} of ${event.of}: loss ${event.metrics.loss}`);
}
console.log('␞');

await appendFile('examples.jsonl', '{"messages": [{"role": "bot", "content": "Hi"}]}\n');
try {
  for await (const event of train({ policy, trainer, data: 'examples.jsonl', out: 'runs/bad' })) void event;
} catch (error) {
  console.log((error as Error).message);
}
await writeFile('examples.jsonl', lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
console.log('␞');
