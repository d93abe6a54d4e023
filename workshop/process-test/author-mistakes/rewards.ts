/** Mistakes in rewards and scores. */
import { type Mistake, mistakesIn } from './mistake.ts';
import { guess, sum } from './right-environments.ts';

export const mistakes: readonly Mistake[] = [
  ...mistakesIn(sum, {
    'no kind': [
      ["kind: 'outcome', ", ''],
      /env-v1\.ts:6:16 .*kind of reward "right": give "process" or "outcome"/,
    ],
    'a kind of its own': [
      ["kind: 'outcome'", "kind: 'final'"],
      /"final" is the kind of reward "right": give "process" or "outcome"/,
    ],
    'weight NaN': [
      ["kind: 'outcome',", "kind: 'outcome', weight: Number(process.env.NO_SUCH_WEIGHT),"],
      /NaN is the weight of reward "right": give a finite number/,
    ],
    'a range the wrong way round': [
      ["kind: 'outcome',", "kind: 'outcome', range: [1, 0],"],
      /\[1,0\] is the range of reward "right"/,
    ],
    'a score of true': [
      ['Number(answer === String(task.a + task.b))', 'answer === String(task.a + task.b)'],
      /\/rewards\/right must be number,null\s+received false/,
    ],
    'a score of NaN': [
      ['Number(answer === String(task.a + task.b))', '1 / (1 + Math.abs(Number(answer) - task.a - task.b))'],
      /a finite "right", or null\s+received NaN/,
    ],
    'a score without a return': [
      ['=> Number(answer === String(task.a + task.b))', '=> { void (answer === String(task.a + task.b)); }'],
      /\/rewards\/right must be number,null\s+received nothing/,
    ],
    'a score that never awaits': [
      [
        'Number(answer === String(task.a + task.b))',
        'Number(Promise.resolve(answer === String(task.a + task.b)))',
      ],
      /a finite "right", or null\s+received NaN/,
    ],
    'a score that throws without an answer': [
      ['Number(answer === ', 'Number(answer!.trim() === '],
      /reading 'trim'\), at .*env-v1\.ts:11:84\s+hint +What is read there may be absent: a score has no answer .*answer\?\.trim/,
    ],
    'a number compared with a text': [
      ['String(task.a + task.b)', '(task.a + task.b as unknown)'],
      /"right" 1 for the oracle on [\s\S]*received \{"right":0\}/,
    ],
    'a reward that nobody gives': [
      ['rewards: {', "rewards: { steps: { kind: 'process', weight: 0.1 },"],
      /WARN-4[\s\S]*differ in "steps"/,
    ],
    'a wide reward beside a narrow one': [
      [
        'rewards: {',
        "rewards: { length: { kind: 'outcome', range: [0, 1000], score: ({ answer }) => Math.min(answer?.length ?? 0, 1000) },",
      ],
      /WARN-10[\s\S]*"length" in \[0, 1000\]/,
    ],
    'a cost that pays': [
      [
        'rewards: {',
        "rewards: { calls: { kind: 'outcome', range: [0, 8], score: ({ calls }) => Math.min(calls.length, 8) },",
      ],
      /"calls" 8 for the oracle on [\s\S]*received \{"calls":1/,
    ],
  }),
  ...mistakesIn(guess, {
    'a range of -1 to 1 forgotten': [
      [
        "return Number(answer) < number ? 'Higher.' : 'Lower.';",
        "return { rewards: { found: -1 }, end: 'lost' };",
      ],
      /"found" within \[0, 1\]\s+received -1/,
    ],
    'a reward of another name in a hook': [
      ['rewards: { found: 1 }', 'rewards: { foud: 1 }'],
      /a declared component \(found\)\s+received "foud"/,
    ],
    'reward: 1 in a hook': [
      ['rewards: { found: 1 }', 'reward: 1'],
      /unknown part "reward"\. Did you mean "rewards"\?/,
    ],
  }),
];
