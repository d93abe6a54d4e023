/** atOnce: runs jobs, several at a time. After a job has failed, no other begins, and the jobs that had begun end first. */
export async function atOnce(count: number, jobs: readonly (() => Promise<unknown>)[]): Promise<void> {
  const left = [...jobs];
  const failures: unknown[] = [];
  const lane = async () => {
    for (let job = left.shift(); job; job = left.shift()) {
      await job().catch((error: unknown) => {
        failures.push(error);
        left.length = 0;
      });
    }
  };
  await Promise.all(Array.from({ length: count }, lane));
  if (failures.length > 0) throw failures[0];
}
