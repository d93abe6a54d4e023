/** `npm run interop -- trackers`: reports a run to a real MLflow server, and to Weights & Biases' own client in its offline mode. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { BanditModel, openBandit } from '@toolenv/testing';
import { grpo } from '@toolenv/trainer-grpo';
import { readMetrics, train } from '@toolenv/training';
import { type MetricSink, mlflow, wandb } from '@toolenv/training/reports';
import { scratchFolder } from '../scratch-folder.ts';
import { check } from './check.ts';
import { freePort } from './free-port.ts';
import { answering, jsonOf } from './programs.ts';

/** @param python Has the packages of trackers.txt. */
export async function checkTrackers(python: string): Promise<void> {
  await using scratch = await scratchFolder();
  await checkMlflow(python, scratch.path);
  await checkWandb(python, scratch.path);
}

async function trainTo(sink: MetricSink, out: string, steps: number, resume = false): Promise<void> {
  const policy = new BanditModel();
  const env = await openBandit({ best: 1 });
  const run = { env, policy, trainer: grpo, out, reportTo: [sink] };
  const events = train({ ...run, steps, resume, groupSize: 4, tasksPerStep: 2, evaluateEvery: 1 });
  for await (const _ of events) {
    // The sink sees the events.
  }
}

async function checkMlflow(python: string, scratch: string): Promise<void> {
  const trackingUri = `http://127.0.0.1:${await freePort()}`;
  const server = startMlflow(python, trackingUri, scratch);
  try {
    await answering(`${trackingUri}/health`, server, () => 'install workshop/interop/trackers.txt.', 120);
    const out = join(scratch, 'mlflow-run');
    const sink = () => mlflow({ trackingUri, experiment: 'toolenv interop' });
    await trainTo(sink(), out, 2);
    await trainTo(sink(), out, 3, true);

    const id = JSON.parse(await readFile(join(out, 'reports.json'), 'utf8')).mlflow;
    const ask = async <Answer>(path: string) =>
      (await (await fetch(`${trackingUri}/api/2.0/mlflow/${path}`)).json()) as Answer;
    const { run } = await ask<RunAnswer>(`runs/get?run_id=${id}`);
    check(run.info.status === 'FINISHED', 'mlflow: the run is finished', JSON.stringify(run.info));
    const params = Object.fromEntries(run.data.params.map(({ key, value }) => [key, value]));
    check(params['trainerOptions.groupSize'] === '4', 'mlflow: has the options', JSON.stringify(params));
    const history = await ask<{ metrics: Point[] }>(
      `metrics/get-history?run_id=${id}&metric_key=rollout/reward`,
    );
    const received = history.metrics.map(({ step, value }) => [Number(step), value]);
    const title = 'mlflow: both parts of a resumed run are one run, with the rewards of metrics.jsonl';
    await checkRewards(title, received, out);
  } finally {
    process.kill(-server.pid!, 'SIGTERM');
  }
}

interface RunAnswer {
  run: { info: { status: string }; data: { params: { key: string; value: string }[] } };
}

interface Point {
  step: string | number;
  value: number;
}

/** In a group of its own, because MLflow starts workers that must end with it. */
function startMlflow(python: string, uri: string, scratch: string): ChildProcess {
  const { port } = new URL(uri);
  const store = ['--backend-store-uri', `sqlite:///${join(scratch, 'mlflow.db')}`];
  const files = ['--artifacts-destination', join(scratch, 'artifacts')];
  const serve = ['-m', 'mlflow', 'server', '--host', '127.0.0.1', '--port', port, '--workers', '1'];
  return spawn(python, [...serve, ...store, ...files], { detached: true, stdio: 'ignore', cwd: scratch });
}

/** @param received Steps and rewards. */
async function checkRewards(title: string, received: unknown, out: string): Promise<void> {
  const rollouts = (await readMetrics(out)).filter(({ type }) => type === 'rollout');
  const [theirs, ours] = [received, rollouts.map(({ step, metrics }) => [step, metrics.reward])];
  check(
    isDeepStrictEqual(theirs, ours),
    title,
    `${JSON.stringify(theirs)} instead of ${JSON.stringify(ours)}`,
  );
}

async function checkWandb(python: string, scratch: string): Promise<void> {
  process.env.WANDB_MODE = 'offline';
  const out = join(scratch, 'wandb-run');
  await trainTo(wandb({ python }), out, 2);
  const id = JSON.parse(await readFile(join(out, 'reports.json'), 'utf8')).wandb;
  const runs = (await readdir(join(out, 'wandb'))).filter((name) => name.startsWith('offline-run-'));
  check(
    runs.length === 1 && runs[0]!.endsWith(id),
    'wandb: one offline run with the id that is kept',
    runs.join(),
  );
  const script = join(import.meta.dirname, 'read_wandb.py');
  type Read = { rewards: unknown; exit: number };
  const { rewards, exit } = await jsonOf<Read>(python, [script, join(out, 'wandb', runs[0]!)]);
  await checkRewards('wandb: has the rewards of metrics.jsonl', rewards, out);
  check(exit === 0, 'wandb: the run has ended well', `exit code ${exit}`);
}
