/** closing: makes what has a `close` close at the end of the block that made it, with `await using`. */
export function closing<Closable extends { close(): unknown }>(one: Closable): Closable & AsyncDisposable {
  const dispose = async () => {
    await one.close();
  };
  return Object.assign(one, { [Symbol.asyncDispose]: dispose });
}
