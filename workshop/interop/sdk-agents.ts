/** An agent of the AI SDK, from the packages of a folder: Pi in a simulated shell. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Harness, sdkAgent } from '@toolenv/harnesses';

/** Of Node.js. Pi reads folders by a function that earlier versions lack. */
const neededMajor = 22;

/** `undefined` without the packages, or with an earlier Node.js. */
export async function sdkPi(folder: string): Promise<Harness | undefined> {
  const { resolve } = createRequire(join(folder, 'package.json'));
  const load = (name: string) => import(pathToFileURL(resolve(name)).href);
  if (Number(process.versions.node.split('.')[0]) < neededMajor) return undefined;
  try {
    resolve('@ai-sdk/harness-pi');
  } catch {
    return undefined;
  }
  const [{ HarnessAgent }, { createPi }, { createJustBashSandbox }, { createMCPClient }] = await Promise.all(
    ['@ai-sdk/harness/agent', '@ai-sdk/harness-pi', '@ai-sdk/sandbox-just-bash', '@ai-sdk/mcp'].map(load),
  );
  return sdkAgent({
    name: 'ai-sdk-pi',
    package: '@ai-sdk/harness-pi@1.0.123',
    async agent({ baseURL: baseUrl, apiKey, tools }) {
      const compat = { supportsDeveloperRole: false, supportsReasoningEffort: false };
      const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
      const limits = { contextWindow: 32_768, maxTokens: 1024, cost, reasoning: false, input: ['text'] };
      const models = [{ id: 'policy', name: 'policy', compat, ...limits }];
      const policy = { baseUrl, apiKey, api: 'openai-completions', models };
      const client = tools && (await createMCPClient({ transport: { type: 'http', url: tools } }));
      return new HarnessAgent({
        harness: createPi({ providers: { policy } }),
        model: 'policy/policy',
        sandbox: createJustBashSandbox({ cwd: '/work' }),
        inactiveTools: ['read', 'write', 'edit', 'bash', 'grep', 'glob', 'ls'],
        ...(client && { tools: await client.tools() }),
      });
    },
  });
}
