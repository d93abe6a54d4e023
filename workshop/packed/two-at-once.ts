/** twoAtOnce: runs jobs two at a time, because most of them wait for npm or use one core. */
export async function twoAtOnce(jobs: readonly (() => Promise<unknown>)[]): Promise<void> {
  const left = [...jobs];
  const lane = async () => {
    for (let job = left.shift(); job; job = left.shift()) await job();
  };
  await Promise.all([lane(), lane()]);
}
