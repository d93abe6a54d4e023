/** The lines of checks, and their sum. */

export interface Report {
  /** Prints the line of a check: what it found, whether it passed or not. */
  check(passed: boolean, name: string, figures: string): void;
  /** Runs checks. What they throw is a failed check of this name. */
  part(name: string, run: () => Promise<void>): Promise<void>;
  /** Prints the last line, and sets the exit code. */
  finish(): void;
}

export function openReport(): Report {
  const tally = { passed: 0, failed: 0 };
  const check: Report['check'] = (passed, name, figures) => {
    tally[passed ? 'passed' : 'failed'] += 1;
    console.log(`${passed ? 'ok    ' : 'failed'} ${name}: ${figures}`);
  };
  return {
    check,
    async part(name, run) {
      const begun = performance.now();
      try {
        await run();
      } catch (error) {
        check(false, name, error instanceof Error ? error.message : String(error));
      }
      console.log(`       ${name} took ${((performance.now() - begun) / 1000).toFixed(0)} s`);
    },
    finish() {
      console.log(`${tally.passed} passed, ${tally.failed} failed`);
      process.exitCode = tally.failed === 0 ? 0 : 1;
    },
  };
}
