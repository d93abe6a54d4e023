/** Environments of several players, and of pictures, pass their own check with the defaults. */
import { defineToolEnv, type ImageBlock, type Script, type Scripted } from '@toolenv/core';
import { expect, test } from 'vitest';
import auction from '../../../../examples/auction.ts';
import rockPaperScissors from '../../../../examples/rock-paper-scissors.ts';
import { assertConforms, checkEnv, reportText } from '../../src/index.ts';

/** Sells a lamp to a buyer, whom `self` plays unless the user chooses. */
const price = (
  oracle: (task: number) => Script | Scripted[],
  play?: string,
  scripts: object = { plain: buys },
) =>
  defineToolEnv({
    name: 'price-v1',
    description: 'Sell a lamp.',
    tasks: { train: [4, 7], test: [5] },
    players: {
      buyer: { description: 'the buyer', scripts: scripts as { plain: typeof buys }, ...(play && { play }) },
    },
    rewards: { sold: { kind: 'outcome' } },
    limits: { maxTurns: 3 },
    episode: ({ task, player }) => ({
      messages: 'Name a price.',
      async onAnswer(said) {
        const { text } = await player('buyer').ask(`The lamp costs ${said}. You have ${task}.`);
        if (text !== 'Deal') return `The buyer says: ${text}. Not ${said}.`;
        return { end: 'sold', rewards: { sold: 1 }, playerRewards: { buyer: { sold: 0 } } };
      },
    }),
    oracle,
  });
const buys = (_: unknown, { messages }: { messages: readonly { content: string }[] }) => {
  const [, cost, most] = /costs (\d+)\. You have (\d+)/.exec(messages.at(-1)!.content) ?? [];
  return Number(cost) <= Number(most) ? 'Deal' : 'No';
};

test('an oracle that lists its turns plays against the first script of a player', async () => {
  await assertConforms(checkEnv(price((task) => ['9', String(task)])));
  await assertConforms(checkEnv(price((task) => [String(task)], 'plain')));
});

test('an oracle that is a function plays every player', async () => {
  const both: Script = ({ conversation }) => (conversation === 'buyer' ? 'Deal' : '100');
  await assertConforms(checkEnv(price(() => both)));
  await assertConforms(checkEnv(auction));
  await assertConforms(checkEnv(rockPaperScissors));
});

test('a player whom nobody can play is named in the hint', async () => {
  const report = await checkEnv(price((task) => [String(task)], undefined, {}));
  expect(reportText(report)).toContain('ENV-32');
  expect(reportText(report)).toMatch(
    /A player whom self plays is played by its first script, .* \(play: "plain", or --<player> plain\)\./,
  );
});

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
/** A picture that depends on the place: the bytes after the end of a PNG are ignored. */
const picture = (place: number): ImageBlock => ({
  type: 'image',
  data: Buffer.concat([Buffer.from(pixel, 'base64'), Buffer.from([place])]).toString('base64'),
  mimeType: 'image/png',
});

/** A corridor whose policy sees where it is only in pictures. */
const corridor = (shown: (place: number) => ImageBlock) =>
  defineToolEnv({
    name: 'corridor-v1',
    description: 'Walk to the end.',
    tasks: { train: [4, 5], test: [6] },
    rewards: { there: { kind: 'outcome' } },
    episode: ({ task: end }) => {
      let place = 0;
      const see = () => ({ role: 'user' as const, content: 'You see:', images: [shown(place)] });
      return {
        messages: [{ role: 'user', content: 'Walk left or right to the end.' }, see()],
        onAnswer(step) {
          place += step === 'right' ? 1 : step === 'left' ? -1 : 0;
          return place === end ? { end: 'there', rewards: { there: 1 } } : { reply: [see()] };
        },
      };
    },
    oracle: (end) => ['up', 'down', 'left', ...Array<string>(end + 1).fill('right')],
  });

test('pictures that differ are different replies', async () => {
  await assertConforms(checkEnv(corridor(picture)));
  const blind = await checkEnv(corridor(() => picture(0)));
  expect(blind.warnings.map(({ rule }) => rule)).toEqual(['WARN-3']);
});
