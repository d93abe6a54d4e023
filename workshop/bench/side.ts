/** Side: a process that does a task round by round, one JSON line per message, so that its start is not measured. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface Side<Round> {
  /** Versions of its libraries. */
  versions: Record<string, string>;
  round(): Promise<Round>;
  close(): Promise<void>;
}

/** Starts a side with its request. Resolves after its warm-up. */
export async function startSide<Round>(
  [program, script]: readonly [string, string],
  request: object,
): Promise<Side<Round>> {
  const child = spawn(program, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (question: object) => {
    child.stdin.write(`${JSON.stringify(question)}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error(`${script} ended before it answered: its message is above.`);
    return JSON.parse(value);
  };
  return {
    versions: await ask(request),
    round: () => ask({}),
    async close() {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}
