/** Providers of sandboxes that break one rule each. All are changes of a valid one, whose commands are the real virtual shell's. */
import type { Sandbox } from '@toolenv/core';
import type { SandboxProvider } from '@toolenv/core/plugins';
import type { VirtualOptions } from '../../sandbox/src/virtual/virtual-v1.ts';
import virtual from '../../sandbox/src/virtual/virtual-v1.ts';
import type { RuleId } from '../src/index.ts';

type Provider = SandboxProvider<VirtualOptions>;

/** Changes the sandboxes of the provider. */
function changed(change: (sandbox: Sandbox) => Partial<Sandbox>): Partial<Provider> {
  return {
    async open(options) {
      const host = await virtual.open(options);
      return {
        async sandbox() {
          const real = await host.sandbox();
          const usual: Sandbox = {
            run: (...given) => real.run(...given),
            read: (path) => real.read(path),
            write: (...given) => real.write(...given),
            list: (path) => real.list(path),
            close: () => real.close(),
          };
          return { ...usual, ...change(usual) };
        },
        close: () => host.close(),
      };
    },
  };
}

const shared = new Map<string, Uint8Array>();

export const brokenSandboxes: readonly [what: string, rule: RuleId, change: Partial<Provider>][] = [
  ['options of an array', 'SBX-1', { options: { type: 'array' } }],
  [
    'a failing command throws',
    'SBX-2',
    changed(({ run }) => ({
      async run(...given) {
        const result = await run(...given);
        if (result.exitCode === 3) throw new Error('exit 3');
        return result;
      },
    })),
  ],
  [
    'each command runs in the first folder',
    'SBX-3',
    changed(({ run }) => ({ run: (command, options) => run(`cd /work; ${command}`, options) })),
  ],
  [
    'a late command fails without saying why',
    'SBX-4',
    changed(({ run }) => ({ run: async (...given) => ({ ...(await run(...given)), timedOut: false }) })),
  ],
  [
    'output is cut in silence',
    'SBX-5',
    changed(({ run }) => ({ run: async (...given) => ({ ...(await run(...given)), truncated: false }) })),
  ],
  [
    'a missing file is an empty one',
    'SBX-6',
    changed(({ read }) => ({
      read: (path) => (path.startsWith('no-') ? Promise.resolve(new Uint8Array()) : read(path)),
    })),
  ],
  [
    'files of one sandbox are seen in another',
    'SBX-7',
    changed(({ read, write }) => ({
      async write(path, content) {
        if (path.startsWith('/tmp')) shared.set(path, content as Uint8Array);
        else await write(path, content);
      },
      read: async (path) => shared.get(path) ?? read(path),
    })),
  ],
  ['a closed sandbox goes on', 'SBX-8', changed(() => ({ close: async () => {} }))],
];
