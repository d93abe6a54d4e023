/** Names of the running episodes of this process. Tools keep what they hold for an episode by its name, so that no two have the same. */

const running = new Set<string>();

/** The id, with a number if an episode that runs has it already, as with equal seeds. */
export function takeName(episodeId: string): string {
  let name = episodeId;
  for (let count = 2; running.has(name); count++) name = `${episodeId}+${count}`;
  running.add(name);
  return name;
}

export function freeName(name: string): void {
  running.delete(name);
}
