/** isGzip: whether a file begins as gzip files do, whatever its name (RFC 1952, section 2.3.1). */
import { open } from 'node:fs/promises';

export async function isGzip(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await file.close();
  }
}
