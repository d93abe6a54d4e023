/** node:crypto in a tab, with the one hash that toolenv computes. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

export { randomBytes } from 'unenv/node/crypto';

interface Hash {
  update(data: string | Uint8Array): Hash;
  digest(encoding: 'hex'): string;
}

export function createHash(name: 'sha256'): Hash {
  if (name !== 'sha256') throw new RangeError(`The hash ${name} is not here: add it to node/crypto.ts.`);
  const state = sha256.create();
  const hash: Hash = {
    update(data) {
      state.update(typeof data === 'string' ? utf8ToBytes(data) : data);
      return hash;
    },
    digest: () => bytesToHex(state.digest()),
  };
  return hash;
}
