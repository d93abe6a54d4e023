/** Attacks on the files that say what a model costs, and on those that spare asking it: prices, caches and recordings. */
import { readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Policy, ToolEnvError } from '@toolenv/core';
import { recordEnv, replayEnv } from '@toolenv/core/recording';
import { type LanguageModel, languageModelPolicy, readPrices } from '@toolenv/openai';
import { type Attack, holds, thrown, within } from './attack.ts';

type Damage = (file: string, whole: string) => Promise<void> | void;

const deep = `${'['.repeat(1e5)}${']'.repeat(1e5)}`;
const gigabyte: Damage = async (file) => {
  await writeFile(file, '');
  await truncate(file, 2 ** 30);
};

export const costs: Attack[] = [
  prices('of a gigabyte', gigabyte),
  prices('with 100,000 nested lists', (file) => writeFile(file, `{"m": ${deep}}`)),
  {
    name: 'prices of a million stars',
    attack: 'the name of a model in the prices is a pattern of a million stars and letters',
    expected: 'it is compared in a second',
    async run(folder) {
      const file = join(folder, 'prices.json');
      await writeFile(file, JSON.stringify({ [`${'a*'.repeat(5e5)}b`]: { input: 1, output: 1 } }));
      const found = await within(1_000, readPrices(file, 'a'.repeat(1e5)));
      holds(found.inputPrice === undefined, 'the pattern fits');
    },
  },
  cache('of a gigabyte', gigabyte),
  cache('with 100,000 nested lists', (file) => writeFile(file, `{"body": {"content": ${deep}}}`)),
  recording('of a gigabyte', gigabyte),
  recording('with 100,000 nested lists', (file, whole) =>
    writeFile(file, whole.replace(/"request":\{/, `"request":{"a":${deep},`)),
  ),
];

function prices(what: string, damage: Damage): Attack {
  return {
    name: `prices ${what}`,
    attack: `prices are read from a file ${what}`,
    expected: 'an error says what is wrong and how to write the file',
    async run(folder) {
      const file = join(folder, 'prices.json');
      await damage(file, '{"m": {"input": 1, "output": 2}}');
      const error = await within(
        5_000,
        thrown(() => readPrices(file, 'm')),
      );
      refuses(error, 'usage.prices', 'write it as');
    },
  };
}

function cache(what: string, damage: Damage): Attack {
  return {
    name: `kept reply ${what}`,
    attack: `a reply in a cache becomes a file ${what}`,
    expected: 'the model is asked again, and its reply is kept',
    async run(folder) {
      const { model, counts } = someModel();
      const policy = () => languageModelPolicy(model, { cache: folder });
      const said = await say(policy());
      const name = (await readdir(folder, { recursive: true })).find((each) => each.endsWith('.json'))!;
      const file = join(folder, name);
      await damage(file, await readFile(file, 'utf8'));
      for (const asked of [2, 2]) {
        const again = await within(5_000, say(policy()));
        holds(counts.asked === asked, `the model was asked ${counts.asked} times`);
        holds(again.text === said.text, `the reply is ${JSON.stringify(again.text)}`);
      }
    },
  };
}

function recording(what: string, damage: Damage): Attack {
  return {
    name: `recorded turns ${what}`,
    attack: `turns of a model are replayed from a file ${what}`,
    expected: 'an error says what is wrong, and the model is not asked',
    async run(folder) {
      const file = join(folder, 'calls.jsonl');
      const { model, counts } = someModel();
      const identity = { name: 'served', options: { model: 'm' } };
      const open = async () => languageModelPolicy(model);
      await say(await recordEnv(file).policy(identity, open));
      await damage(file, await readFile(file, 'utf8'));
      const replay = async () => say(await (await replayEnv(file)).policy(identity, open));
      refuses(await within(20_000, thrown(replay)), /^(usage|bug)\./, file);
      holds(counts.asked === 1, `the model was asked ${counts.asked} times`);
    },
  };
}

function someModel(): { model: LanguageModel; counts: { asked: number } } {
  const counts = { asked: 0 };
  const doGenerate = async () => {
    counts.asked += 1;
    return {
      content: [{ type: 'text', text: 'Hello' }],
      finishReason: 'stop',
      usage: { inputTokens: 1, outputTokens: 1 },
    };
  };
  return { model: { specificationVersion: 'v2', provider: 'p', modelId: 'm', doGenerate }, counts };
}

function say(policy: Policy) {
  const observation = { messages: [{ role: 'user' as const, content: 'Hi' }], tools: [] };
  return policy.act(observation, { maxTokens: 4, temperature: 0, seed: 1, episodeId: 'e' });
}

function refuses(error: unknown, code: string | RegExp, text: string): void {
  holds(ToolEnvError.isInstance(error), `threw ${error}`);
  holds(new RegExp(code).test(error.code), `threw ${error.code}: ${error.message}`);
  holds(
    error.message.includes(text) && error.message.length < 2_000,
    `said ${error.message.slice(0, 2_000)}`,
  );
}
