/** Images: from tools and authors to the policy, as they are for a policy that reads them, as words for another. */
import { expect, test } from 'vitest';
import {
  collect,
  defineTool,
  defineToolEnv,
  type ImageBlock,
  type Message,
  type Observation,
  openEnv,
  type Policy,
  playTask,
  rollout,
} from '../../src/index.ts';
import { decodeTrajectory, encodeTrajectory, trajectoryMistake } from '../../src/recording/index.ts';

/** One transparent pixel. */
const pixel: ImageBlock = {
  type: 'image',
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  mimeType: 'image/png',
};

function camera(content: readonly unknown[] = [{ type: 'text', text: 'A view.' }, pixel]) {
  const look = defineTool('look', 'Look.', {}, async () => ({ content: structuredClone(content) as never }));
  return defineToolEnv({
    name: 'camera-v1',
    description: 'Look.',
    limits: { maxTurns: 9 },
    tasks: { train: [{}] },
    rewards: { seen: { kind: 'outcome' } },
    episode: () => ({
      messages: [{ role: 'user', content: 'What is there?', images: [pixel] }],
      tools: [look],
      onAnswer: () => ({ rewards: { seen: 1 }, end: 'answered' }),
    }),
  });
}

/** Looks so many times, then answers, and keeps what it was shown. */
function looker(images: boolean, times = 1): Policy & { shown: Observation[] } {
  const shown: Observation[] = [];
  return {
    shown,
    spec: { name: 'looker', contextLength: 1e6, ...(images && { capabilities: { images } }) },
    async act(observation) {
      shown.push(structuredClone(observation));
      if (shown.length > times) return { text: 'a pixel', toolCalls: [], stopReason: 'stop' };
      return { text: '', toolCalls: [{ id: 'a', name: 'look', arguments: {} }], stopReason: 'tool_call' };
    },
  };
}

const imagesIn = ({ messages }: Observation) =>
  messages.map((message: Message) => (message as { images?: unknown }).images);

test('a policy that reads images gets those of the author and of tools, and the record has them', async () => {
  const policy = looker(true);
  const played = await playTask(camera(), {}, policy);
  expect(played.reward).toBe(1);
  expect(imagesIn(policy.shown[1]!)).toEqual([[pixel], undefined, [pixel]]);
  expect(policy.shown[1]!.messages.map(({ content }) => content)).toEqual([
    'What is there?',
    '',
    'A view.\n[image]',
  ]);
  const line = encodeTrajectory(played);
  expect(trajectoryMistake(JSON.parse(line))).toBeUndefined();
  expect(imagesIn(decodeTrajectory(line).steps[1]!.observation)).toEqual([[pixel], undefined, [pixel]]);
});

test('a policy of text gets words, and so does its record', async () => {
  const policy = looker(false);
  const played = await playTask(camera(), {}, policy);
  expect(imagesIn(policy.shown[1]!)).toEqual([undefined, undefined, undefined]);
  expect(policy.shown[1]!.messages.map(({ content }) => content)).toEqual([
    'What is there?\n[image/png]',
    '',
    'A view.\n[image]',
  ]);
  expect(encodeTrajectory(played)).not.toContain('"images"');
});

test('by option, images that a policy cannot read stop the run', async () => {
  await using env = await openEnv(camera());
  const episodes = [{ task: {}, group: 0, sample: 0 }];
  const sampling = { maxTokens: 10, temperature: 1 };
  const run = (policy: Policy) =>
    collect(rollout({ env, policy, episodes, sampling, seed: 1, concurrency: 1, onImages: 'refuse' }));
  await expect(run(looker(false))).rejects.toMatchObject({
    code: 'usage.images',
    message: expect.stringContaining('--send-images'),
  });
  expect((await run(looker(true)))[0]!.reward).toBe(1);
});

test.each([
  ['SVG', { ...pixel, mimeType: 'image/svg+xml' }],
  ['HTML', { ...pixel, mimeType: 'text/html' }],
  ['a type that ends its attribute', { ...pixel, mimeType: 'image/png"><script>' }],
  ['data that is not base64', { ...pixel, data: '"><script>' }],
  ['more than 4 MB', { ...pixel, data: 'A'.repeat(4 * 2 ** 20 + 4) }],
])('an image of a tool that models cannot read is only named: %s', async (_what, image) => {
  const policy = looker(true);
  await playTask(camera([image]), {}, policy);
  expect(imagesIn(policy.shown[1]!)).toEqual([[pixel], undefined, undefined]);
  expect(policy.shown[1]!.messages[2]!.content).toBe('[image]');
});

test('an author with such an image has a bug', async () => {
  const broken = defineToolEnv({
    name: 'broken-v1',
    description: 'x',
    tasks: { train: [{}] },
    rewards: {},
    episode: () => ({
      messages: [{ role: 'user', content: 'x', images: [{ ...pixel, mimeType: 'text/html' }] }],
    }),
  });
  await expect(playTask(broken, {}, looker(true))).rejects.toThrow('ENV-14');
});

test('of many large images, the newest are shown', async () => {
  const large = { ...pixel, data: 'A'.repeat(3 * 2 ** 20) };
  const policy = looker(true, 4);
  const { outcome } = await playTask(camera([large]), {}, policy);
  expect(outcome.kind).toBe('terminated');
  const last = imagesIn(policy.shown[4]!) as (ImageBlock[] | undefined)[];
  expect(last.map((images) => images?.length ?? 0)).toEqual([0, 0, 0, 0, 0, 0, 1, 0, 1]);

  const three = looker(true, 4);
  await playTask(camera([large, large, large]), {}, three);
  const ofThree = imagesIn(three.shown[4]!) as (ImageBlock[] | undefined)[];
  expect(ofThree.map((images) => images?.length ?? 0)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 2]);
});

test('a policy that reads none is named once, as it begins to play blind', async () => {
  const warnings: Error[] = [];
  const listen = (warning: Error) => void (warning.name === 'Images' && warnings.push(warning));
  process.on('warning', listen);
  try {
    const blind: Policy = {
      spec: { name: 'blind', contextLength: 1000 },
      act: async () => ({ text: 'nothing', toolCalls: [], stopReason: 'stop' }),
    };
    const seeing: Policy = { ...blind, spec: { ...blind.spec, capabilities: { images: true } } };
    for (const policy of [seeing, blind, blind]) await playTask(camera(), {}, policy);
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings.map(({ message }) => message)).toEqual([
      'The environment shows images, and blind reads none: it reads their types in brackets instead, and plays blind. Better choose a policy that does, such as openai:<url>#<model> with --send-images.',
    ]);
  } finally {
    process.off('warning', listen);
  }
});
