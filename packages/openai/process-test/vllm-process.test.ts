/** The vLLM server that a run starts: how it begins, how it ends, and what is said where it fails. A stand-in is in its place. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEnv } from '@toolenv/core';
import { loadPolicy, type TransformerPolicy } from '@toolenv/policy';
import { grpo } from '@toolenv/trainer-grpo';
import { train } from '@toolenv/training';
import { expect, onTestFinished, test, vi } from 'vitest';
import { findVllm } from '../src/vllm/find-vllm.ts';
import { openVllmSampler } from '../src/vllm/vllm-sampler.ts';

const checkpoint = join(import.meta.dirname, '../../../packages/checkpoints/tiny');
const standIn = join(import.meta.dirname, 'stand-in');
const hasPython = spawnSync('python3', ['--version']).status === 0;
const question = { messages: [{ role: 'user' as const, content: 'Where is the river?' }], tools: [] };
const sampling = { maxTokens: 16, temperature: 1, seed: 7 };

interface Started {
  pids: number[];
  arguments: string[];
}

async function withStandIn(failure: string): Promise<() => Promise<Started>> {
  const folder = await mkdtemp(join(tmpdir(), 'stand-in-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const pids = join(folder, 'pids.json');
  for (const [name, value] of Object.entries({
    TOOLENV_VLLM: 'python3',
    PYTHONPATH: standIn,
    PYTHONDONTWRITEBYTECODE: '1',
    STAND_IN: failure,
    STAND_IN_PIDS: pids,
  })) {
    vi.stubEnv(name, value);
  }
  return async () => JSON.parse(await readFile(pids, 'utf8'));
}

async function open(timeout = 60_000): Promise<TransformerPolicy> {
  const policy = await loadPolicy(checkpoint, {
    openSampler: (learned) => openVllmSampler(learned, { args: ['--dtype', 'float32'], timeout }),
    learner: { lora: { rank: 12 } },
  });
  onTestFinished(() => policy.close());
  return policy;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A process that nobody has waited for is over too.
    return spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim()[0] !== 'Z';
  } catch {
    return false;
  }
}

const gone = (pids: readonly number[]) =>
  expect.poll(() => pids.filter(isAlive), { timeout: 15_000 }).toEqual([]);

test.runIf(hasPython)('a server is started with room for the adapter, and ends with the policy', async () => {
  const started = await withStandIn('');
  const policy = await open();
  const action = await policy.act(question, sampling);
  expect([...action.tokens!.action]).toEqual([845]);
  const { pids, arguments: given } = await started();
  expect(given.slice(0, 3)).toEqual(['vllm', 'serve', checkpoint]);
  expect(given.slice(given.indexOf('--max-lora-rank'))).toEqual([
    '--max-lora-rank',
    '16',
    '--dtype',
    'float32',
  ]);
  // The metadata of the stand-in say that it is for CPUs.
  expect(given).toContain('--no-enable-chunked-prefill');
  // The key is in no list of processes.
  expect(given).not.toContain('--api-key');
  expect(pids.every(isAlive)).toBe(true);
  await policy.close();
  await gone(pids);
});

test.runIf(hasPython)('a server that cannot start is reported with the end of its log', async () => {
  await withStandIn('start');
  await expect(open()).rejects.toMatchObject({
    code: 'usage.vllm_start',
    message: expect.stringMatching(/exit code 1.*--sampler-arguments.*\n.*No available memory/s),
  });
});

test.runIf(hasPython)('a server that does not answer in time is ended', async () => {
  const started = await withStandIn('silence');
  await expect(open(4000)).rejects.toMatchObject({
    code: 'usage.vllm_start',
    message: expect.stringMatching(/after 4 s.*--sampler-timeout.*still loading/s),
  });
  await gone((await started()).pids);
});

test.runIf(hasPython)(
  'a server that dies ends the run with its last words, and --resume goes on',
  async () => {
    const started = await withStandIn('turn');
    const out = await mkdtemp(join(tmpdir(), 'vllm-run-'));
    onTestFinished(() => rm(out, { recursive: true }));
    await using env = await openEnv('@toolenv/envs-qa/bridge-v1', { topK: 2 });
    const run = async (policy: TransformerPolicy, resume: boolean) => {
      const options = { steps: 1, tasksPerStep: 4, groupSize: 4, evaluateEvery: 0 };
      for await (const _ of train({ env, policy, trainer: grpo, out, resume, ...options })) {
        // The run writes its metrics.
      }
    };
    const dying = await open();
    await expect(run(dying, false)).rejects.toMatchObject({
      code: 'infrastructure.too_many_aborted',
      message: expect.stringMatching(
        /infrastructure.vllm: vLLM has ended \(exit code 7\).*--resume. Its log says: EngineDeadError: EngineCore encountered an issue\./s,
      ),
    });
    await gone((await started()).pids);
    await dying.close();
    vi.stubEnv('STAND_IN', '');
    await run(await open(), true);
  },
);

test.runIf(hasPython)(
  'a server ends with the process that has started it, even if that is killed',
  async () => {
    const started = await withStandIn('');
    const program = `
    import { loadPolicy } from '@toolenv/policy';
    import { openVllmSampler } from '@toolenv/openai/vllm';
    await loadPolicy(${JSON.stringify(checkpoint)}, { openSampler: (learned) => openVllmSampler(learned, {}) });
    console.log('open');
    setInterval(() => {}, 1000);
  `;
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', '--conditions=@toolenv/source', '--input-type=module', '-e', program],
      { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await once(child.stdout, 'data');
    const { pids } = await started();
    expect(pids.every(isAlive)).toBe(true);
    child.kill('SIGKILL');
    await gone(pids);
  },
);

test('says where it has looked for vLLM', () => {
  vi.stubEnv('TOOLENV_VLLM', '/nowhere/python');
  expect(findVllm).toThrow(expect.objectContaining({ code: 'usage.vllm_missing' }));
  expect(findVllm).toThrow('looked in /nowhere/python');
});
