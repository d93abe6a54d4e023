/** What the installed kinds of sandboxes can do on this machine, and what ended processes have left of them. */
import { messageOf } from '@toolenv/core';
import { completeOptions, listPlugins, loadPlugin } from '@toolenv/core/plugins';
import { pluginFolders } from '../subject/plugin-folders.ts';

/** `problem` says why no sandbox of the kind can be made. */
export interface SandboxKind {
  ref: string;
  problem?: string;
  limits: Readonly<Record<string, string>>;
  /** What was left, and was removed, by name. */
  removed: string[];
  /** What could not be removed, and why. */
  left: string[];
}

/** Inspects every installed kind with its default options, and removes orphans. */
export async function sandboxKinds(signal: AbortSignal): Promise<SandboxKind[]> {
  const from = pluginFolders();
  const kinds: SandboxKind[] = [];
  for (const { ref } of listPlugins(from).filter(({ kind }) => kind === 'sandboxes')) {
    signal.throwIfAborted();
    const kind: SandboxKind = { ref, limits: {}, removed: [], left: [] };
    kinds.push(kind);
    try {
      const provider = await loadPlugin('sandboxes', ref, { from });
      const { problem, limits, orphans } = await provider.inspect(completeOptions(provider.options, {}, ref));
      Object.assign(kind, { limits }, problem !== undefined && { problem });
      for (const { name, remove } of orphans) {
        await remove().then(
          () => kind.removed.push(name),
          (error: unknown) => kind.left.push(`${name}: ${messageOf(error)}`),
        );
      }
    } catch (error) {
      kind.problem = messageOf(error);
    }
  }
  return kinds;
}

/** A paragraph for each kind. */
export function sandboxText(kinds: readonly SandboxKind[]): string {
  if (kinds.length === 0) return 'No kind of sandbox is installed. Begin with: npm install @toolenv/sandbox';
  return kinds
    .map(({ ref, problem, limits, removed, left }) => {
      const rows = [
        ...Object.entries(limits).map(([what, by]) => `${what} limited by ${by}`),
        ...removed.map((name) => `removed what an ended process has left: ${name}`),
        ...left.map((name) => `cannot be removed: ${name}`),
      ];
      const head = problem === undefined ? `${ref}  works` : `${ref}  does not work: ${problem}`;
      return [head, ...rows.map((row) => `  ${row}`)].join('\n');
    })
    .join('\n');
}
