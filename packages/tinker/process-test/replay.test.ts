/** The policy and the learner against the recorded bytes of a real server: `record.ts` wrote them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import type { ConnectionOptions } from '../src/connection.ts';
import type { TinkerPolicy } from '../src/tinker-policy.ts';
import { type Intercepted, type ReplayServer, recording, startReplay } from '../test/replay-server.ts';
import { openPolicy, rows, slopes, walk } from '../test/scenario.ts';

const observation = { messages: [{ role: 'user' as const, content: 'Which river is longer?' }], tools: [] };
const sampling = { maxTokens: 6, temperature: 1, seed: 5 };
const fast = { retries: 1, poll: 200 };

afterEach(() => {
  vi.useRealTimers();
});

/** The id of the result that the n-th recorded request of a path asks for. */
function resultOf(path: string, n: number): string {
  const { reply } = recording.walk.filter((each) => each.path === path)[n]!;
  return (JSON.parse(Buffer.from(reply, 'base64').toString()) as { request_id: string }).request_id;
}

/** Answers the polls for one result. */
function pollsOf(id: string, answer: (number: number) => Intercepted | undefined) {
  let number = 0;
  return (path: string, _: number, body: Buffer) => {
    if (path !== 'retrieve_future' || JSON.parse(body.toString()).request_id !== id) return undefined;
    number += 1;
    return answer(number);
  };
}

function json(status: number, body: unknown): Intercepted {
  return {
    status,
    type: 'application/json',
    reply: Buffer.from(JSON.stringify(body)).toString('base64'),
  };
}

/** The probe takes the first two steps and the first three passes with gradients. */
const firstStep = 2;

/** A policy that has sampled once, as in the walk: requests have their recorded numbers. */
async function opened(connection: ConnectionOptions): Promise<TinkerPolicy> {
  const policy = await openPolicy(connection);
  await policy.act(observation, sampling);
  return policy;
}

const sent = ({ requests }: ReplayServer, path: string) => requests.filter((each) => each === path).length;

test('a walk sends the recorded requests and has the recorded results', async () => {
  await using server = await startReplay();
  const policy = await openPolicy({ url: server.url });
  const { first, again, logprobs, reference, norms } = await walk(policy);
  await policy.close();
  expect(server.strange).toEqual([]);
  expect(norms).toEqual(recording.norms);
  expect(norms[2]).toBe(norms[1]);
  expect(again.tokens).toEqual(first.tokens);
  expect(first.tokens!.logprobs.every((logprob) => logprob < 0)).toBe(true);
  expect(reference).toEqual(logprobs);
  for (const [b, { mask }] of rows.entries()) {
    expect(Array.from(logprobs[b]!, (logprob) => Number(logprob < 0))).toEqual([...mask]);
  }
  expect(policy.usage).toMatchObject({ retries: 0, outputTokens: 2 * first.tokens!.action.length });
  for (const { tokens, usage } of [first, again]) {
    // The request and the poll that had the result.
    const turn = { requests: 2, inputTokens: tokens!.prompt.length, outputTokens: tokens!.action.length };
    expect(usage).toMatchObject({ ...turn, cachedTokens: 0 });
    expect(usage!.milliseconds).toBeGreaterThan(0);
  }
  expect(sent(server, 'unload_model')).toBe(sent(server, 'create_model'));
});

test('a server of JSON alone is refused', async () => {
  await using server = await startReplay((path) =>
    path === 'forward_backward' ? recording.faults.json : undefined,
  );
  expect(recording.faults.json.status).toBe(415);
  await expect(openPolicy({ url: server.url, ...fast })).rejects.toMatchObject({
    code: 'usage.tinker_wire',
    message: expect.stringContaining('skyrl 0.4.0'),
  });
});

test('a rank that the server cannot train is refused with its reason', async () => {
  await using server = await startReplay(pollsOf(resultOf('create_model', 0), () => recording.faults.rank));
  await expect(openPolicy({ url: server.url, ...fast })).rejects.toMatchObject({
    code: 'usage.tinker_model',
    message: expect.stringContaining('rank 0 must be between 1 and'),
  });
});

test('a reused number is a bug', async () => {
  expect(recording.faults.reused.status).toBe(409);
  await using server = await startReplay((path, number) =>
    path === 'optim_step' && number > firstStep ? recording.faults.reused : undefined,
  );
  const policy = await opened({ url: server.url, ...fast });
  await policy.learner.backward({ rows }, { dLogprobs: slopes });
  await expect(policy.learner.step({ learningRate: 0.01 })).rejects.toMatchObject({
    code: 'bug.tinker_request',
  });
  await policy.close();
});

test('a server that forgot a result is an infrastructure fault', async () => {
  expect(recording.faults.unknown.status).toBe(404);
  await using server = await startReplay(pollsOf(resultOf('asample', 0), () => recording.faults.unknown));
  const policy = await openPolicy({ url: server.url, ...fast });
  await expect(policy.act(observation, sampling)).rejects.toMatchObject({
    code: 'infrastructure.tinker_lost',
  });
  await policy.close();
});

test('a norm of null throws, and the weights are not saved', async () => {
  await using server = await startReplay(
    pollsOf(resultOf('optim_step', firstStep), () => recording.faults.notFinite),
  );
  const policy = await opened({ url: server.url, ...fast });
  const { learner } = policy;
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-tinker-'));
  await learner.backward({ rows }, { dLogprobs: slopes });
  await expect(learner.step({ learningRate: 0.01 })).rejects.toMatchObject({
    code: 'infrastructure.tinker_not_finite',
  });
  await expect(learner.save(folder)).rejects.toMatchObject({ code: 'infrastructure.tinker_lost' });
  await expect(learner.forward({ rows })).rejects.toMatchObject({ code: 'infrastructure.tinker_lost' });
  expect(sent(server, 'save_weights')).toBe(0);
  await policy.close();
  await rm(folder, { recursive: true });
});

test('a crash in plain text is an infrastructure fault after another attempt', async () => {
  expect(recording.faults.plain).toMatchObject({ status: 500, type: 'text/plain' });
  await using server = await startReplay(pollsOf(resultOf('asample', 0), () => recording.faults.plain));
  const policy = await openPolicy({ url: server.url, ...fast });
  await expect(policy.act(observation, sampling)).rejects.toMatchObject({
    code: 'infrastructure.tinker_server',
    message: expect.stringContaining('500: Internal Server Error'),
  });
  expect(policy.usage.retries).toBe(1);
  await policy.close();
});

test('a poll that never answers is asked again', async () => {
  await using server = await startReplay(
    pollsOf(resultOf('asample', 0), (number) => (number <= 3 ? 'hang' : undefined)),
  );
  const policy = await openPolicy({ url: server.url, ...fast });
  const { tokens, usage } = await policy.act(observation, sampling);
  expect(tokens!.action.length).toBeGreaterThan(0);
  // One request to sample, and four polls for its result.
  expect(usage!.requests).toBe(5);
  expect(policy.usage.retries).toBe(0);
  await policy.close();
});

test('an aborted action ends at once', async () => {
  await using server = await startReplay(pollsOf(resultOf('asample', 0), () => 'hang'));
  const policy = await openPolicy({ url: server.url, ...fast });
  const stopped = policy.act(observation, { ...sampling, signal: AbortSignal.timeout(300) });
  await expect(stopped).rejects.toMatchObject({ name: 'TimeoutError' });
  await policy.close();
});

test('a result that never comes is an infrastructure fault', async () => {
  await using server = await startReplay(pollsOf(resultOf('asample', 0), () => 'hang'));
  const policy = await openPolicy({ url: server.url, ...fast, timeout: 1500 });
  await expect(policy.act(observation, sampling)).rejects.toMatchObject({
    code: 'infrastructure.tinker_timeout',
  });
  await policy.close();
});

test('an action that waits for a step ends at once when it is aborted', async () => {
  await using server = await startReplay(pollsOf(resultOf('optim_step', firstStep), () => 'hang'));
  const policy = await opened({ url: server.url, ...fast });
  await policy.learner.backward({ rows }, { dLogprobs: slopes });
  let stepped = false;
  const step = policy.learner.step({ learningRate: 0.01 }).catch(() => {
    stepped = true;
  });
  const action = policy.act(observation, { ...sampling, signal: AbortSignal.timeout(200) });
  await expect(action).rejects.toMatchObject({ name: 'TimeoutError' });
  expect(stepped).toBe(false);
  await policy.close();
  await step;
});

test('a request whose answer is lost is sent again with the same number', async () => {
  const lost = ['forward_backward', 'optim_step', 'asample'];
  const bodies: string[] = [];
  await using server = await startReplay((path, number, body) => {
    if (path === 'forward_backward' && number <= 2) bodies.push(body.toString('base64'));
    return lost.includes(path) && number === 1 ? 'drop' : undefined;
  });
  const policy = await openPolicy({ url: server.url });
  const { norms } = await walk(policy);
  await policy.close();
  expect(norms).toEqual(recording.norms);
  expect(bodies[1]).toBe(bodies[0]);
  expect(policy.usage.retries).toBe(3);
});

test('a server that is gone is an infrastructure fault', async () => {
  const server = await startReplay();
  const policy = await openPolicy({ url: server.url, ...fast });
  await server[Symbol.asyncDispose]();
  await expect(policy.act(observation, sampling)).rejects.toMatchObject({
    code: 'infrastructure.tinker_unreachable',
    message: expect.stringContaining('ECONNREFUSED'),
  });
  await policy.close();
});

test('gradients that are not finite are never sent', async () => {
  await using server = await startReplay();
  const policy = await opened({ url: server.url });
  const { learner } = policy;
  for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, 3e38]) {
    const dLogprobs = slopes.map((row, b) => row.map((slope, t) => (b === 1 && t === 2 ? wrong : slope)));
    await learner.backward({ rows }, { dLogprobs });
    const before = server.requests.length;
    await expect(learner.step({ learningRate: 0.01 })).rejects.toMatchObject({
      code: 'bug.gradient_not_finite',
    });
    expect(server.requests.slice(before)).not.toContain('forward_backward');
    expect(server.requests.slice(before)).not.toContain('optim_step');
  }
  expect(await learner.step({ learningRate: 0.01 })).toEqual({ gradNorm: 0 });
  await policy.close();
});

test('what the server cannot do is refused', async () => {
  await using server = await startReplay();
  const policy = await opened({ url: server.url });
  const { learner } = policy;
  const code = (name: string) => expect.objectContaining({ code: name });
  const warm = { ...sampling, temperature: 0.7 };
  await expect(policy.act(observation, warm)).rejects.toEqual(code('usage.tinker_temperature'));
  await expect(policy.act(observation, { ...sampling, minP: 0.1 })).rejects.toEqual(
    code('usage.tinker_sampling'),
  );
  await expect(policy.act(observation, { ...sampling, constrainCalls: true })).rejects.toEqual(
    code('usage.constrain_calls'),
  );
  await expect(learner.forward({ rows, temperature: 0.7 })).rejects.toEqual(code('usage.tinker_temperature'));
  const entropy = { dLogprobs: slopes, dEntropy: slopes };
  await expect(learner.backward({ rows }, entropy)).rejects.toEqual(code('usage.tinker_entropy'));
  const values = { dLogprobs: slopes, dValues: slopes };
  await expect(learner.backward({ rows }, values)).rejects.toEqual(code('bug.critic'));
  expect(learner).not.toHaveProperty('addCritic');
  await learner.backward({ rows }, { dLogprobs: slopes });
  await expect(learner.step({ learningRate: 0.01, maxGradNorm: 1 })).rejects.toMatchObject({
    code: 'usage.tinker_clipping',
    message: expect.stringContaining('set --max-grad-norm 0'),
  });
  expect(sent(server, 'optim_step')).toBe(firstStep);
  await policy.close();
});

test('the probe tells sums from means, and refuses everything else', async () => {
  const [alone, twice] = [resultOf('optim_step', 0), resultOf('optim_step', 1)];
  const norm = (value: number) => json(200, { metrics: { 'skyrl.ai/grad_norm': value } });
  const answering = (ratio: number) => {
    const [first, second] = [pollsOf(alone, () => norm(3)), pollsOf(twice, () => norm(3 * ratio))];
    return startReplay((...request) => first(...request) ?? second(...request));
  };
  await using sums = await answering(2);
  const policy = await opened({ url: sums.url });
  await policy.learner.backward({ rows }, { dLogprobs: slopes });
  // FSDP and Megatron clip at 1.
  await expect(policy.learner.step({ learningRate: 0.01 })).rejects.toMatchObject({
    message: expect.stringContaining('set --max-grad-norm 1'),
  });
  await policy.close();
  for (const other of [1 / 2, 1, 4 / 3, Number.NaN]) {
    await using strange = await answering(other);
    await expect(openPolicy({ url: strange.url })).rejects.toMatchObject({
      code: 'usage.tinker_normalisation',
    });
    expect(sent(strange, 'unload_model')).toBe(1);
  }
});

test('another base model is refused', async () => {
  await using server = await startReplay((path) =>
    path === 'get_server_capabilities' ? json(200, { supported_models: [] }) : undefined,
  );
  await expect(openPolicy({ url: server.url })).rejects.toMatchObject({ code: 'usage.tinker_model' });
});

test('the session is kept alive until the policy is closed', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  await using server = await startReplay();
  const policy = await openPolicy({ url: server.url });
  vi.advanceTimersByTime(30_000);
  await vi.waitFor(() => expect(sent(server, 'session_heartbeat')).toBe(3));
  await policy.close();
  vi.advanceTimersByTime(30_000);
  expect(vi.getTimerCount()).toBe(0);
});
