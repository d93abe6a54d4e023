/** Checks of a foreign thing: each prints a line, and all are counted. */

const tally = { passed: 0, failed: 0 };

export function check(passed: boolean, title: string, otherwise: string): void {
  tally[passed ? 'passed' : 'failed'] += 1;
  console.log(passed ? `ok      ${title}` : `FAILED  ${title}: ${otherwise}`);
}

/** Prints the counts, and sets the exit code to 1 if a check failed. */
export function finish(): void {
  console.log(`${tally.passed} passed, ${tally.failed} failed`);
  process.exitCode = tally.failed === 0 ? 0 : 1;
}
