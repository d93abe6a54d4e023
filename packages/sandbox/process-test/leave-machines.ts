/** Makes two machines with the shortest time to live, says so, and waits to be killed. */
import { completeOptions, type SandboxProvider } from '@toolenv/core/plugins';

const providers: Record<string, () => Promise<SandboxProvider<never>>> = {
  'e2b-v1': async () => (await import('../src/remote/e2b-v1.ts')).default,
  'daytona-v1': async () => {
    const { daytonaProvider } = await import('../src/remote/daytona-v1.ts');
    const { loadDaytona } = await import('./load-daytona.ts');
    return daytonaProvider(loadDaytona);
  },
};
const provider = await providers[process.argv[2] ?? '']!();
const host = await provider.open(completeOptions(provider.options, { ttl: 60 }, provider.name) as never);
await Promise.all([host.sandbox(), host.sandbox()]);
process.stdout.write('made\n');
setInterval(() => {}, 1000);
