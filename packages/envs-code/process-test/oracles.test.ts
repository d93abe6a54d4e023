/** What the oracles do in Python and in the shell is right, and what hostile solutions do earns nothing. */
import { createRng, openEnv, playTask } from '@toolenv/core';
import { createPython } from '@toolenv/tools-code';
import { expect, test } from 'vitest';
import code from '../src/code/code-v1.ts';
import { drawProblem } from '../src/math/problem.ts';
import terminal from '../src/terminal/terminal-v1.ts';

test('Python gives the answers of math-v1, of each kind and level', async () => {
  const python = await createPython();
  const problems = Array.from({ length: 300 }, (_, index) => drawProblem(createRng(1, index), 'train', 3));
  const code = [
    'from fractions import Fraction as F',
    ...problems.map((problem) => `print(${problem.python})`),
  ];
  const context = {
    episodeId: 'math',
    signal: new AbortController().signal,
    rng: createRng(1),
    callIndex: 0,
  };
  try {
    const { content } = await python.execute({ code: code.join('\n') }, context);
    expect((content[0] as { text: string }).text.split('\n')).toEqual(problems.map(({ answer }) => answer));
  } finally {
    await python.close?.();
  }
});

test('oracles of terminal-v1 win in each split', async () => {
  await using env = await openEnv(terminal, {}, { from: import.meta.dirname });
  const lost: string[] = [];
  for (const split of ['train', 'validation', 'test'] as const)
    for (let index = 0; index < 8; index++) {
      const drawn = await env.tasks[split].get(index);
      const { reward, steps } = await playTask(env, drawn, terminal.oracle!(drawn)!);
      if (reward !== 1)
        lost.push(`${drawn.commands.join('; ')} -> ${steps.map(({ calls }) => calls[0]?.text).join(' ')}`);
    }
  expect(lost).toEqual([]);
});

const hostile: [what: string, code: string][] = [
  ['is equal to everything', 'class E:\n  def __eq__(self, other): return True\ndef solve(x): return E()'],
  [
    'is a list that is equal to everything',
    'class E(list):\n  def __eq__(self, other): return True\ndef solve(x): return E()',
  ],
  ['prints a verdict', 'print("m:[]")\nprint("correct 1")\ndef solve(x): print("passed"); return None'],
  [
    'replaces built-ins',
    'import builtins\nbuiltins.type = lambda x: int\nbuiltins.len = lambda x: 0\ndef solve(x): return 0',
  ],
  [
    'replaces json',
    'import json, sys\njson.dumps = lambda *a: "[]"\nsys.modules["json"] = None\ndef solve(x): return 0',
  ],
  [
    'looks for the tests',
    'import sys\nf = sys._getframe(1)\nexpected = [v for v in f.f_locals["data"].values()]\ndef solve(x): return expected',
  ],
  [
    'catches its end',
    'def solve(x):\n  while True:\n    try:\n      while True: pass\n    except BaseException: pass',
  ],
  ['exits', 'raise SystemExit(0)'],
  ['ends its interpreter', 'import os\nos._exit(0)'],
  ['recurses', 'def solve(x): return solve(x)'],
  ['allocates', 'def solve(x): return [0] * 10**9'],
  [
    'writes a reward',
    'open("/reward.txt", "w").write("1")\nopen("reward.json", "w").write("{}")\ndef solve(x): return 1',
  ],
  ['returns a deep list', 'def solve(x):\n  y = []\n  for _ in range(10**5): y = [y]\n  return y'],
  ['returns itself', 'def solve(x):\n  y = []\n  y.append(y)\n  return y'],
  ['is not Python', 'def solve(x:'],
  ['has no function', 'x = 1'],
  ['has half a character', 'def solve(x): return "\ud800"'],
];

test('oracles of code-v1 win, and hostile solutions earn nothing', async () => {
  const tests = '@toolenv/tools-code/python-v1?timeout=1000';
  await using env = await openEnv(code, { tools: 'none' }, { from: import.meta.dirname, tools: { tests } });
  const rewards: Record<string, number | null> = {};
  for (let index = 0; index < 5; index++) {
    const task = await env.tasks.test.get(index);
    rewards[`oracle ${index}`] = (await playTask(env, task, code.oracle!(task)!)).reward;
  }
  const task = await env.tasks.test.get(0);
  for (const [what, solution] of hostile)
    rewards[what] = (await playTask(env, task, [`\`\`\`python\n${solution}\n\`\`\``])).reward;
  const noisy = task.reference.replace('def solve(x):', 'def solve(x):\n    print("x" * 10**5)');
  rewards.noisy = (await playTask(env, task, [noisy])).reward;
  expect(rewards).toEqual({
    ...Object.fromEntries([0, 1, 2, 3, 4].map((index) => [`oracle ${index}`, 1])),
    ...Object.fromEntries(hostile.map(([what]) => [what, 0])),
    noisy: 1,
  });
});
