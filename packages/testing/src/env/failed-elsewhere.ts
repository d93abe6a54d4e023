/** failedElsewhere: a judge or a server failed, which says nothing of the environment. WARN-6 names it. */

/** A failing tool does not count: state that episodes share may have made it fail. */
export function failedElsewhere({ outcome }: { outcome?: object }): boolean {
  const { kind, cause } = { kind: '', cause: undefined, ...outcome } as {
    kind: string;
    cause?: { code?: string };
  };
  return kind === 'aborted' && !cause?.code?.startsWith('infrastructure.tool');
}
