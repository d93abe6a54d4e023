/** A call whose stream the server cuts. The client resumes the stream, and the server never answers on it. */
import { connectMcp } from '@toolenv/mcp';
import { expect, onTestFinished } from 'vitest';
import { badHttpServer, context } from './servers.ts';

/**
 * Expects that the call ends within `limit` milliseconds, and that the connection lives on.
 * @param how Whether the server ends or destroys the stream.
 */
export async function expectCutCallToEnd(
  how: 'end' | 'destroy',
  options: { resumeTimeout?: number },
  limit: number,
): Promise<void> {
  const forgetful = await badHttpServer('forgetful');
  onTestFinished(() => void forgetful.process.kill('SIGKILL'));
  const connection = await connectMcp({ url: forgetful.url }, options);
  const tool = (name: string) => connection.tools.find((tool) => tool.name === name)!;
  const start = performance.now();
  await expect(tool('hang-up').execute({ how, after: 100 }, context())).rejects.toMatchObject({
    code: 'infrastructure.mcp_closed',
    message: expect.stringContaining('the stream of the call ended without an answer'),
  });
  expect(performance.now() - start).toBeLessThan(limit);
  // It still answers.
  expect(connection.lost).toBeUndefined();
  expect(await tool('cancelled').execute({}, context())).toMatchObject({ content: [{ text: '0' }] });
  await connection.close();
}
