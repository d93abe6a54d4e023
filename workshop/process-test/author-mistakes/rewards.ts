/** Mistakes in rewards and scores. */
import type { Mistake } from './mistake.ts';
import { guess, sum } from './right-environments.ts';

export const mistakes: readonly Mistake[] = [
  {
    did: 'no kind',
    in: sum,
    edits: [["kind: 'outcome', ", '']],
    says: /env-v1\.ts:6:16 .*kind of reward "right": give "process" or "outcome"/,
  },
  {
    did: 'a kind of its own',
    in: sum,
    edits: [["kind: 'outcome'", "kind: 'final'"]],
    says: /"final" is the kind of reward "right": give "process" or "outcome"/,
  },
  {
    did: 'weight NaN',
    in: sum,
    edits: [["kind: 'outcome',", "kind: 'outcome', weight: Number(process.env.NO_SUCH_WEIGHT),"]],
    says: /NaN is the weight of reward "right": give a finite number/,
  },
  {
    did: 'a range the wrong way round',
    in: sum,
    edits: [["kind: 'outcome',", "kind: 'outcome', range: [1, 0],"]],
    says: /\[1,0\] is the range of reward "right"/,
  },
  {
    did: 'a range of -1 to 1 forgotten',
    in: guess,
    edits: [
      [
        "return Number(answer) < number ? 'Higher.' : 'Lower.';",
        "return { rewards: { found: -1 }, end: 'lost' };",
      ],
    ],
    says: /"found" within \[0, 1\]\s+received -1/,
  },
  {
    did: 'a score of true',
    in: sum,
    edits: [['Number(answer === String(task.a + task.b))', 'answer === String(task.a + task.b)']],
    says: /\/rewards\/right must be number,null\s+received false/,
  },
  {
    did: 'a score of NaN',
    in: sum,
    edits: [
      ['Number(answer === String(task.a + task.b))', '1 / (1 + Math.abs(Number(answer) - task.a - task.b))'],
    ],
    says: /a finite "right", or null\s+received NaN/,
  },
  {
    did: 'a score without a return',
    in: sum,
    edits: [
      ['=> Number(answer === String(task.a + task.b))', '=> { void (answer === String(task.a + task.b)); }'],
    ],
    says: /\/rewards\/right must be number,null\s+received nothing/,
  },
  {
    did: 'a score that never awaits',
    in: sum,
    edits: [
      [
        'Number(answer === String(task.a + task.b))',
        'Number(Promise.resolve(answer === String(task.a + task.b)))',
      ],
    ],
    says: /a finite "right", or null\s+received NaN/,
  },
  {
    did: 'a score that throws without an answer',
    in: sum,
    edits: [['Number(answer === ', 'Number(answer!.trim() === ']],
    says: /reading 'trim'\), at .*env-v1\.ts:11:84\s+hint +What is read there may be absent: a score has no answer .*answer\?\.trim/,
  },
  {
    did: 'a number compared with a text',
    in: sum,
    edits: [['String(task.a + task.b)', '(task.a + task.b as unknown)']],
    says: /"right" 1 for the oracle on [\s\S]*received \{"right":0\}/,
  },
  {
    did: 'a reward of another name in a hook',
    in: guess,
    edits: [['rewards: { found: 1 }', 'rewards: { foud: 1 }']],
    says: /a declared component \(found\)\s+received "foud"/,
  },
  {
    did: 'reward: 1 in a hook',
    in: guess,
    edits: [['rewards: { found: 1 }', 'reward: 1']],
    says: /unknown part "reward"\. Did you mean "rewards"\?/,
  },
  {
    did: 'a reward that nobody gives',
    in: sum,
    edits: [['rewards: {', "rewards: { steps: { kind: 'process', weight: 0.1 },"]],
    says: /WARN-4[\s\S]*differ in "steps"/,
  },
  {
    did: 'a wide reward beside a narrow one',
    in: sum,
    edits: [
      [
        'rewards: {',
        "rewards: { length: { kind: 'outcome', range: [0, 1000], score: ({ answer }) => Math.min(answer?.length ?? 0, 1000) },",
      ],
    ],
    says: /WARN-10[\s\S]*"length" in \[0, 1000\]/,
  },
  {
    did: 'a cost that pays',
    in: sum,
    edits: [
      [
        'rewards: {',
        "rewards: { calls: { kind: 'outcome', range: [0, 8], score: ({ calls }) => Math.min(calls.length, 8) },",
      ],
    ],
    says: /"calls" 8 for the oracle on [\s\S]*received \{"calls":1/,
  },
];
