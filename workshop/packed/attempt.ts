/** Steps that pass or fail, printed and counted. */

const tally = { passed: 0, failed: 0 };

/** Whether the step passed. Prints its title and its time, and the reason if it failed. */
export async function attempt(title: string, step: () => Promise<unknown>): Promise<boolean> {
  const started = performance.now();
  let reason = '';
  try {
    await step();
    tally.passed += 1;
  } catch (error) {
    reason = `: ${String(error)}`;
    tally.failed += 1;
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${reason === '' ? 'ok     ' : 'FAILED '} ${title} (${seconds} s)${reason}`);
  return reason === '';
}

/** Prints the counts, and sets the exit code to 1 if a step failed. */
export function finish(): void {
  console.log(`${tally.passed} passed, ${tally.failed} failed`);
  process.exitCode = tally.failed === 0 ? 0 : 1;
}
