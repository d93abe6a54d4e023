/** The best checkpoint, early stopping, and how many checkpoints are kept; also in runs that are killed and go on. */
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { bestCheckpoint, readMetrics } from '../../src/index.ts';
import { BestEvaluation } from '../../src/run/best-evaluation.ts';
import { type BanditRun, banditRun, metricOf } from '../bandit-run.ts';
import { timeless } from '../timeless.ts';

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'best-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, 'run');
}

const checkpoints = async (out: string) => (await readdir(join(out, 'checkpoints'))).sort();
const saved = async (folder: string) => JSON.parse(await readFile(join(folder, 'bandit.json'), 'utf8'));

/** Large steps on shuffled rewards: with this seed the third evaluation is the best by far, and the last is 0. */
const erratic = {
  seed: 7,
  steps: 12,
  learningRate: 8,
  shuffleRewards: true,
  evaluateEvery: 1,
  evaluationTemperature: 1,
  evaluationEpisodes: 8,
  checkpointEvery: 0,
  keepCheckpoints: 1,
  bestMetric: 'reward',
  trajectories: false,
} as const;

/** Options of a run that may be killed and go on. */
const patient = { ...erratic, patience: 5, checkpointEvery: 3 };

interface WholeRun extends BanditRun {
  out: string;
}

/** Runs that end without a kill, which several tests compare with. */
let whole: { erratic: WholeRun; patient: WholeRun };
beforeAll(async () => {
  const root = await mkdtemp(join(tmpdir(), 'best-'));
  const wholeRun = async (name: string, options: Parameters<typeof banditRun>[1]) => {
    const out = join(root, name);
    return { ...(await banditRun(out, options)), out };
  };
  whole = { erratic: await wholeRun('erratic', erratic), patient: await wholeRun('patient', patient) };
  return () => rm(root, { recursive: true });
});

test('keeps the checkpoint of the best evaluation, which becomes the policy of the run', async () => {
  const { out, ...run } = whole.erratic;
  const scores = metricOf(run, 'evaluation', 'reward').map(([, reward]) => reward!);
  const best = 1 + scores.indexOf(Math.max(...scores));
  expect(best).toBe(3);
  expect(await checkpoints(out)).toEqual([`step-${best}`, 'step-12'].sort());
  expect(await bestCheckpoint(out)).toEqual({ step: best, folder: join(out, 'checkpoints', `step-${best}`) });
  expect(await saved(join(out, 'policy'))).toEqual(await saved(join(out, 'checkpoints', `step-${best}`)));
  expect(await saved(join(out, 'policy'))).not.toEqual(await saved(join(out, 'checkpoints', 'step-12')));
});

test('less may be better', async () => {
  const out = await newFolder();
  const run = await banditRun(out, { ...erratic, bestMetricGoal: 'min' });
  const scores = metricOf(run, 'evaluation', 'reward').map(([, reward]) => reward!);
  expect((await bestCheckpoint(out))?.step).toBe(1 + scores.indexOf(Math.min(...scores)));
});

test('stops after as many evaluations without a new best as patience says, and stays stopped', async () => {
  const out = await newFolder();
  const impatient = { ...erratic, patience: 3 };
  const run = await banditRun(out, impatient);
  const scores = metricOf(run, 'evaluation', 'reward').map(([, reward]) => reward!);
  const best = 1 + scores.indexOf(Math.max(...scores));
  expect(run.kinds.at(-1)).toBe(`checkpoint ${best + 3}`);
  expect(best + 3).toBeLessThan(12);
  expect((await banditRun(out, { ...impatient, resume: true })).kinds).toEqual([]);

  // With more patience it goes on, as if it had never stopped.
  const more = await banditRun(out, { ...erratic, resume: true });
  expect(more.kinds[0]).toBe(`rollout ${best + 4}`);
  expect(await saved(join(out, 'checkpoints', 'step-12'))).toEqual(
    await saved(join(whole.erratic.out, 'checkpoints', 'step-12')),
  );
});

test.each(['update 4', 'evaluation 4', 'evaluation 7', 'checkpoint 3'])(
  'a run that is killed after %s ends with the files of a run that was not',
  async (killAfter) => {
    const { out } = whole.patient;
    const parts = await newFolder();
    await banditRun(parts, { ...patient, killAfter });
    await banditRun(parts, { ...patient, resume: true });
    expect(await checkpoints(parts)).toEqual(await checkpoints(out));
    expect(await bestCheckpoint(parts)).toMatchObject({ step: (await bestCheckpoint(out))!.step });
    for (const name of await checkpoints(out)) {
      for (const file of ['bandit.json', 'trainer_state.json']) {
        const [a, b] = [out, parts].map((run) => readFile(join(run, 'checkpoints', name, file), 'utf8'));
        expect(await b).toBe(await a);
      }
    }
    expect(timeless(await readMetrics(parts))).toEqual(timeless(await readMetrics(out)));
  },
);

test('an evaluation that was interrupted is judged when the run goes on', async () => {
  const [whole, parts] = [await newFolder(), await newFolder()];
  const options = { ...erratic, steps: 4, evaluateEvery: 4 };
  await banditRun(whole, options);
  // As a run leaves it that is interrupted in the evaluation of its last step.
  await cp(whole, parts, { recursive: true });
  const file = join(parts, 'checkpoints', 'step-4', 'trainer_state.json');
  const state = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify({ ...state, memory: { evaluationDue: 1 } }));
  const rest = await banditRun(parts, { ...options, resume: true });
  expect(rest.kinds).toEqual(['evaluation 4', 'checkpoint 4']);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(state);
  expect(state.memory).toMatchObject({ bestStep: 4, evaluationsSinceBest: 0 });
});

test('evaluates before the first step, where the best may be', async () => {
  const out = await newFolder();
  const options = {
    ...erratic,
    steps: 3,
    evaluateFirst: true,
    bestMetricGoal: 'min',
    evaluationTemperature: 0,
  };
  const run = await banditRun(out, { ...options, bestMetricGoal: 'min', learningRate: 0 });
  expect(run.kinds.slice(0, 3)).toEqual(['evaluation 0', 'checkpoint 0', 'rollout 1']);
  expect((await bestCheckpoint(out))?.step).toBe(0);
  const resumed = await banditRun(out, {
    ...options,
    bestMetricGoal: 'min',
    learningRate: 0,
    steps: 4,
    resume: true,
  });
  expect(resumed.kinds[0]).toBe('rollout 4');
});

test.each([
  [{ evaluateEvery: 0 }, 'option "bestMetric": also give evaluateEvery'],
  [{ bestMetric: undefined, patience: 2 }, 'option "patience": also give bestMetric, such as reward'],
  [{ bestMetric: 'em' }, 'an evaluation has no metric "em". Metrics: reward'],
])('refuses %j', async (options, message) => {
  await expect(banditRun(await newFolder(), { ...erratic, ...options, steps: 1 })).rejects.toThrow(message);
});

test('a value belongs to its metric: another metric begins anew', () => {
  const options = { bestMetric: 'reward', bestMetricGoal: 'max', patience: 0, evaluateEvery: 1 } as const;
  const first = new BestEvaluation(options);
  first.judge(3, { reward: 0.9 });
  expect(new BestEvaluation(options).restore({ ...first.memory, updates: 4 })).toEqual({ updates: 4 });
  const other = new BestEvaluation({ ...options, bestMetric: 'rewards/em/mean' });
  expect(other.restore({ ...first.memory, updates: 4 })).toEqual({ updates: 4 });
  expect(other.step).toBeUndefined();
  expect(other.judge(4, { 'rewards/em/mean': 0.1 })).toBe(true);
});
