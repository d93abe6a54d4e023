/** `--skill`: what is read, what it changes, and that equal skills are hardly ever told apart. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRng } from '@toolenv/core';
import type { Scored } from '@toolenv/training/runs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readSkill } from '../../src/run/read-skill.ts';
import { skillVerdict } from '../../src/run/skill-verdicts.ts';
import { runCli } from '../run-cli.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skills-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function skillOf(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(path, { recursive: true });
  await writeFile(join(path, 'SKILL.md'), text);
  return path;
}

describe('a skill', () => {
  test.each([
    ['plain', '---\nname: plain\ndescription: Does it.\n---\n\nDo it.\n', { name: 'plain', text: 'Do it.' }],
    [
      'quoted',
      '---\r\ndescription: >\r\n  Long.\r\nname: "quoted-skill"\r\n---\r\n# How\r\n',
      { name: 'quoted-skill', text: '# How' },
    ],
  ])('%s is read from its folder, and from its file', async (name, text, expected) => {
    const path = await skillOf(name, text);
    for (const given of [path, join(path, 'SKILL.md')])
      expect(await readSkill(given)).toEqual({ ...expected, folder: path });
  });

  test.each([
    ['no-matter', 'Do it.\n', /does not begin with front matter that has a name: ---, name: no-matter, ---/],
    ['no-name', '---\ndescription: x\n---\nDo it.\n', /front matter that has a name/],
    ['empty', '---\nname: empty\n---\n\n', /has no instructions below its front matter/],
  ])('%s is refused', async (name, text, message) => {
    const path = await skillOf(name, text);
    await expect(readSkill(path)).rejects.toThrow(message);
    await expect(readSkill(path)).rejects.toMatchObject({ code: 'usage.bad_skill' });
  });

  test('a folder without one is refused', async () => {
    await expect(readSkill(join(folder, 'absent'))).rejects.toThrow(/SKILL\.md cannot be read \(ENOENT/);
  });
});

/** Scores of 100 tasks, each with its own chance to succeed, which `gain` adds to. */
function scores(seed: number, side: string, gain = 0): Scored {
  const tasks = Array.from({ length: 100 }, (_, index) => {
    const chance = createRng(seed, 'task', index).float();
    const won = Number(createRng(seed, side, index).float() < chance + gain);
    return { index, digest: `${index}`, question: '', reward: [won], scores: { em: [won] } };
  });
  return { tasks } as unknown as Scored;
}

test('of 1,000 comparisons of equal skills, at most ten differ', () => {
  const verdicts = Array.from(
    { length: 1000 },
    (_, seed) => skillVerdict(scores(seed, 'a'), scores(seed, 'b')).verdict,
  );
  const differing = verdicts.filter((verdict) => verdict !== 'no difference beyond chance');
  expect(differing.length).toBeLessThanOrEqual(10);
});

test('a skill that helps in a quarter of the tasks is better, and its absence worse', () => {
  const [helped, plain] = [scores(1, 'a', 0.25), scores(1, 'b')];
  expect(skillVerdict(helped, plain)).toMatchObject({ metric: 'em', verdict: 'better' });
  expect(skillVerdict(plain, helped)).toMatchObject({ metric: 'em', verdict: 'worse' });
});

describe('toolenv eval --skill', () => {
  const skilled = (file: string) => join(import.meta.dirname, 'skilled', file);

  test('compares skills on the same tasks, and fails if a skill is worse', async () => {
    const good = await skillOf('words', '---\nname: words\n---\nRepeat the word.\n');
    const args = [skilled('word-env.ts'), '--policy', skilled('follower.ts')];
    const better = await runCli('eval', ...args, '--skill', 'none', '--skill', good);
    expect(better.stdout).toMatch(
      /words is better than none: right \+1\.000 \(99\.5 % interval \+1\.000 to \+1\.000\)\n$/,
    );
    expect(better.code).toBe(0);
    const worse = await runCli('eval', ...args, '--skill', good, '--skill', 'none', '--json');
    expect(worse.code).toBe(1);
    const { policies, skills } = JSON.parse(worse.stdout);
    expect(skills).toEqual([
      expect.objectContaining({
        skill: 'none',
        against: good,
        metric: 'right',
        verdict: 'worse',
        difference: -1,
      }),
    ]);
    expect(policies[0].skill).toMatchObject({ name: 'words' });
    expect(policies[1].skill).toBeUndefined();
  });

  test('only eval takes several', async () => {
    const given = [
      '--policy',
      'oracle',
      '--count',
      '1',
      '--skill',
      'none',
      '--skill',
      'none',
      '--out',
      join(folder, 'r'),
    ];
    const { code, stderr } = await runCli('rollout', '@toolenv/envs-classic/arithmetic-v1', ...given);
    expect(code).toBe(2);
    expect(stderr).toContain('--skill none: only eval takes several skills. Give one.');
  });
});
