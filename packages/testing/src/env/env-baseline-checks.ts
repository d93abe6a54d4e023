/** Checks with known players: an oracle must win, a player that does nothing must lose, and no label may leak. */
import {
  type Action,
  type Observation,
  type RewardSpec,
  rewardTolerance,
  type Script,
  type Scripted,
  scriptedPolicy,
  sumRewards,
  type Transition,
  weigh,
} from '@toolenv/core';
import { findWords } from '../find-words.ts';
import type { RuleId } from '../rules.ts';
import { brief, causeText, Violation } from '../violation.ts';
import { type EnvSubject, failedElsewhere, nothing, wrongCall } from './env-subject.ts';
import { plainTransition } from './transition-rules.ts';

export async function checkBaselines(subject: EnvSubject): Promise<void> {
  const { definition, report } = subject;
  const rules: RuleId[] = ['ENV-32', 'ENV-33'];
  const isKnown = subject.tasks.some((task) => definition.oracle?.(task) !== undefined);
  if (!definition.oracle) report.skip(rules, 'the definition has no oracle');
  else if (!isKnown) report.skip(rules, 'the oracle knows no task');
  // Scores mean little while steps break other rules.
  else if (!report.report.ok) report.skip(rules, 'other rules are broken');
  else await report.check(rules, () => oracleWins(subject), report.wants('WARN-3', 'WARN-4'));
}

const listOfTurns =
  "Give a list of turns: oracle: (task) => [task.answer], or [[{ name: 'look_up', arguments: { … } }], task.answer].";

async function oracleWins(subject: EnvSubject): Promise<void> {
  for (const [index, task] of subject.tasks.entries()) {
    const script = subject.definition.oracle!(task);
    if (!script) continue;
    if (typeof script === 'string')
      throw new Violation('ENV-32', 'an oracle of turns', `the text ${brief(script)}`, listOfTurns);
    let won = await playOracle(subject, script, task, index);
    // A rollout plays such an episode once more too.
    if (failedElsewhere(JSON.stringify(plainTransition(won.at(-1)!))))
      won = await playOracle(subject, subject.definition.oracle!(task)!, task, index);
    if (!subject.report.report.ok) return;
    const { rewards: spec } = subject.definition;
    const total = sumRewards(spec, won);
    const { outcome } = won.at(-1)!;
    if (outcome.kind !== 'terminated') {
      throw new Violation(
        'ENV-32',
        `the oracle to terminate on ${brief(task)}`,
        outcome.kind === 'aborted' ? causeText(outcome.cause) : brief(outcome),
      );
    }
    const wrong = won.flatMap(({ calls }) => calls ?? []).find(({ mistake }) => mistake)?.mistake;
    if (wrong) {
      const { code, expected, received, hint = '' } = wrong;
      const what = `a mistake in a call (${code}): expected ${expected}; received ${received}. ${hint}`;
      throw new Violation(
        'ENV-32',
        `calls of the oracle that are right, on ${brief(task)}`,
        what,
        'Correct the oracle.',
      );
    }
    const declared = subject.definition.best?.(task);
    const earned = weigh(spec, total);
    if (declared !== undefined && !(Math.abs((earned ?? Number.NaN) - declared) < rewardTolerance)) {
      throw new Violation(
        'ENV-32',
        `the declared best, ${declared}, for the oracle on ${brief(task)}`,
        `${earned}, of ${brief(total)}`,
      );
    }
    for (const [name, best] of declared === undefined ? bestValues(spec) : []) {
      if (Math.abs((total[name] ?? Number.NaN) - best) < rewardTolerance) continue;
      throw new Violation('ENV-32', `"${name}" ${best} for the oracle on ${brief(task)}`, brief(total));
    }
    const idle = sumRewards(spec, await playNothing(subject, task, index));
    const unearned = weigh(spec, idle);
    if (unearned === null || earned === null || unearned < earned) continue;
    const expected = `less than the oracle's ${earned} for an empty answer on ${brief(task)}`;
    throw new Violation('ENV-33', expected, `${unearned}`);
  }
}

async function playOracle(
  subject: EnvSubject,
  script: Script | readonly Scripted[],
  task: unknown,
  seed: number,
): Promise<Transition[]> {
  const policy = scriptedPolicy(script);
  const actions: Action[] = [];
  subject.oracleActions.set(seed, actions);
  return subject.withWatched(async (env) => {
    let observation: Observation = await env.reset(task, seed);
    const transitions: Transition[] = [];
    const isOthers = () => env.env.spec.players?.includes(observation.conversation ?? '') ?? false;
    for (let turn = 1; env.running; turn += isOthers() ? 0 : 1) {
      // A list has the turns of the first player.
      const isPlayed = !Array.isArray(script) || !isOthers();
      const options = { maxTokens: 1, temperature: 0, seed };
      const action = isPlayed ? await policy.act(observation, options) : nothing;
      actions.push(action);
      const transition = await env.step(action);
      observation = transition.observation;
      transitions.push(transition);
      if (turn > subject.definition.limits.maxTurns) break;
    }
    return transitions;
  });
}

async function playNothing(subject: EnvSubject, task: unknown, seed: number): Promise<Transition[]> {
  const actions = Array(Math.min(subject.definition.limits.maxTurns, 100)).fill(nothing);
  return subject.withWatched((env) => env.play(task, seed, actions));
}

/** Best value of each outcome component with a weight other than 0. */
function bestValues(spec: RewardSpec): [name: string, best: number][] {
  return Object.entries(spec)
    .filter(([, { kind, weight }]) => kind === 'outcome' && weight !== 0)
    .map(([name, { range, weight }]) => [name, weight > 0 ? range[1] : range[0]]);
}

export async function checkLabels(subject: EnvSubject, tasks: readonly unknown[]): Promise<void> {
  const { definition, report } = subject;
  const labelled = tasks.flatMap((task) => {
    const label = definition.label?.(task)?.trim();
    return label ? [{ task, label }] : [];
  });
  if (labelled.length === 0) {
    report.skip(['ENV-15'], definition.label ? 'no task has a label' : 'the definition has no label');
    return;
  }
  await report.check(['ENV-15'], async () => {
    for (const { task, label } of labelled) {
      for (const [mistakes, seen] of (await unearned(subject, task)).entries()) {
        const found = excerpt(seen, label);
        if (!found) continue;
        const where = mistakes === 0 ? 'in the first observation' : `after ${mistakes} wrong calls`;
        throw new Violation('ENV-15', `no "${label}" ${where}`, found);
      }
    }
  });
}

/** Number of wrong calls made while the observations are searched. */
const triedMistakes = 2;

/** What the policy reads without any tool result: the first observation, and those after wrong calls. */
function unearned(subject: EnvSubject, task: unknown): Promise<string[]> {
  return subject.withWatched(async (env) => {
    const seen = [JSON.stringify(await env.reset(task, 1))];
    while (seen.length <= triedMistakes) {
      const { observation } = await env.step(wrongCall);
      // The policy never sees the final observation.
      if (!env.running) break;
      seen.push(JSON.stringify(observation));
    }
    return seen;
  });
}

/** The place where the text contains the label as whole words, ignoring case; `undefined` if there is none. */
function excerpt(text: string, label: string): string | undefined {
  const at = findWords(text, JSON.stringify(label.normalize('NFKC')).slice(1, -1));
  if (at < 0) return undefined;
  return `…${text.slice(Math.max(0, at - 60), at + label.length + 60)}…`;
}
