/** Parts of the soak that go wrong, for the tests of the soak. */
import { check, type PartInput, type Reporter } from '../chaos/part.ts';

/** The seed chooses what goes wrong. */
export async function run({ seed }: PartInput, { report }: Reporter): Promise<void> {
  report(check('first', true, 'before'));
  await new Promise((resolve) => setTimeout(resolve, 20));
  if (seed === 1) for (;;);
  if (seed === 2) process.kill(process.pid, 'SIGKILL');
  if (seed === 3) throw new Error('broken');
  if (seed === 4) void Promise.reject(new Error('late'));
  if (seed === 5)
    setTimeout(() => {
      throw new Error('later');
    });
  await new Promise((resolve) => setTimeout(resolve, 20));
}
