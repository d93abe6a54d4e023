/** placeOf: where in the code of an author an error was made. */

/** The folder of this package and of those beside it. */
const packages = import.meta.url.slice(0, import.meta.url.lastIndexOf('/core/') + 1);

/** The file, line and column of the first frame that is not of Node, of a dependency or of toolenv; `undefined` if there is none. */
export function placeOf(error: unknown): string | undefined {
  const stack = error instanceof Error ? error.stack : undefined;
  // Node 20 gives files as addresses, tsx as paths.
  for (const line of stack?.split('\n').filter((frame) => /^\s+at /.test(frame)) ?? []) {
    const place = /[\s(]((?:file:\/\/|\/|[A-Za-z]:\\)[^()]*:\d+:\d+)\)?$/.exec(line)?.[1];
    if (place === undefined || /[\\/]node_modules[\\/]/.test(place)) continue;
    const address = place.startsWith('file:') ? place : `file://${place}`;
    if (!isOwn(address)) return address.replace(/^file:\/\//, '').replace(/\?[^:]*/, '');
  }
  return undefined;
}

/** Whether the line is of toolenv, and says nothing to an author. */
function isOwn(address: string): boolean {
  return address.startsWith(packages) && /^[^/]*\/(src|dist)\//.test(address.slice(packages.length));
}

/** `, at /my-env/env.ts:12:3`, or nothing. */
export function atPlace(error: unknown): string {
  const place = placeOf(error);
  return place === undefined ? '' : `, at ${place}`;
}
