/** node:fs in a tab: files in memory, which last as long as the tab. */
import { fs } from 'memfs';

export const {
  closeSync,
  createWriteStream,
  existsSync,
  openSync,
  read,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  unlinkSync,
  writeSync,
} = fs;

/** The whole file at once, as it is in memory already. */
export async function* createReadStream(
  file: string,
  encoding?: 'utf8',
): AsyncGenerator<string | Uint8Array, void, void> {
  yield fs.readFileSync(file, encoding) as string | Uint8Array;
}
