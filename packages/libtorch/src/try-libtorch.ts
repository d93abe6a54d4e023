/** tryLibtorch: loads libtorch in a process of its own, and measures it there. */
import { EngineClient } from './engine-client.ts';
import { libraryIn } from './library-file.ts';
import type { ProductTimes } from './product-times.ts';

/**
 * @param folder Of the libraries.
 * @param threads Threads that compute one operation. Default: OpenMP's choice.
 * @throws ToolEnvError `usage.libtorch`, `infrastructure.libtorch`.
 */
export async function tryLibtorch(
  folder: string,
  threads?: number,
): Promise<{ version: string; times: ProductTimes }> {
  // Before a process starts for it.
  libraryIn(folder);
  const engine = new EngineClient({ threads });
  try {
    const version = await engine.open(folder, 'float32');
    return { version, times: await engine.ask('productTimes') };
  } finally {
    await engine.close();
  }
}
