/** When a session of WebGPU is released: ONNX Runtime frees a tensor through the session that made it, and crashes if it is gone. */
import { InferenceSession, type Tensor as OrtTensor } from 'onnxruntime-node';
import { expect, test, vi } from 'vitest';
import { onnxRuntime } from '../../src/runtime/onnx/onnx-runtime.ts';
import { closeSession, openSession } from '../../src/runtime/onnx/open-session.ts';
import { fromOrt } from '../../src/runtime/onnx/ort-tensor.ts';

interface FakeSession {
  release(): Promise<void>;
}

async function open(device: 'cpu' | 'webgpu', log: string[], name: string): Promise<InferenceSession> {
  const fake: FakeSession = { release: async () => void log.push(`${name} released`) };
  vi.spyOn(InferenceSession, 'create').mockResolvedValueOnce(fake as InferenceSession);
  return openSession(device, new Uint8Array(), {});
}

function output(session: InferenceSession, log: string[], name: string) {
  const dispose = () => void log.push(`${name} freed`);
  const tensor: Pick<OrtTensor, 'location' | 'dims' | 'dispose'> = {
    location: 'gpu-buffer',
    dims: [2],
    dispose,
  };
  return fromOrt(tensor as OrtTensor, session);
}

test('a session outlives its program until its tensors are disposed', async () => {
  const log: string[] = [];
  await open('webgpu', log, 'another');
  const session = await open('webgpu', log, 'session');
  const [first, second] = [output(session, log, 'first'), output(session, log, 'second')];
  first.dispose!();
  await closeSession(session);
  expect(log).toEqual(['first freed']);
  second.dispose!();
  second.dispose!();
  expect(log).toEqual(['first freed', 'second freed', 'session released']);
});

test('a session whose tensors are disposed is released when its program is closed', async () => {
  const log: string[] = [];
  const session = await open('webgpu', log, 'session');
  output(session, log, 'tensor').dispose!();
  expect(log).toEqual(['tensor freed']);
  await closeSession(session);
  expect(log).toEqual(['tensor freed', 'session released']);
});

test('the last session of WebGPU stays open, and a session of the CPU is released at once', async () => {
  vi.resetModules();
  const fresh = await import('../../src/runtime/onnx/open-session.ts');
  const log: string[] = [];
  const spy = vi.spyOn(InferenceSession, 'create');
  const fake = (name: string) =>
    ({ release: async () => void log.push(name) }) as FakeSession as InferenceSession;
  spy.mockResolvedValueOnce(fake('webgpu')).mockResolvedValueOnce(fake('cpu'));
  await fresh.closeSession(await fresh.openSession('webgpu', new Uint8Array(), {}));
  await fresh.closeSession(await fresh.openSession('cpu', new Uint8Array(), {}));
  expect(log).toEqual(['cpu']);
});

test.each([
  ['PASSIVE', '0'],
  ['passive', '0'],
  ['ACTIVE', '1'],
  [undefined, '1'],
])('with OMP_WAIT_POLICY %s, a waiting thread spins: %s', async (policy, spins) => {
  vi.stubEnv('OMP_WAIT_POLICY', policy);
  const create = vi.spyOn(InferenceSession, 'create');
  const program = await onnxRuntime().compile((ops) => ({
    opposite: ops.neg(ops.input('x', 'float32', [])),
  }));
  expect(create.mock.calls[0]![1]).toMatchObject({
    extra: { session: { intra_op: { allow_spinning: spins } } },
  });
  await program.close();
});
