/** Makes a machine, says so, and waits to be killed. */
import { completeOptions, type SandboxProvider } from '@toolenv/core/plugins';

const names: Record<string, () => Promise<SandboxProvider<never>>> = {
  'e2b-v1': async () => (await import('../src/remote/e2b-v1.ts')).default,
  'daytona-v1': async () => {
    const { daytonaProvider } = await import('../src/remote/daytona-v1.ts');
    const { loadDaytona } = await import('./load-daytona.ts');
    return daytonaProvider(loadDaytona);
  },
};
const provider = await names[process.argv[2] ?? '']!();
const host = await provider.open(completeOptions(provider.options, {}, provider.name) as never);
await host.sandbox();
process.stdout.write('made\n');
setInterval(() => {}, 1000);
