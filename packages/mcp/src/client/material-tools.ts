/** materialTools: a server's resources and prompts as tools, for policies that only know tools. */
import { isErrorAnswer } from './client-error.ts';
import type { McpClient, McpRequestOptions, McpToolDefinition } from './mcp-client.ts';

/** What a server may offer in addition to its tools. */
export type McpMaterial = 'resources' | 'prompts';

export interface MaterialTool {
  definition: McpToolDefinition;
  ask(
    client: McpClient,
    args: Record<string, unknown>,
    options: McpRequestOptions,
  ): Promise<{ content: readonly object[] }>;
}

/** The tools for the wanted materials that the server has. */
export function materialTools(client: McpClient, wanted: readonly McpMaterial[] = []): MaterialTool[] {
  const capabilities = client.getServerCapabilities?.() ?? {};
  return [...new Set(wanted)].flatMap((material) => (capabilities[material] ? tools[material] : []));
}

const string = { type: 'string' };
const page = {
  type: 'object',
  properties: {
    cursor: { ...string, description: '`nextCursor` of the page before. Default: the first page' },
  },
  additionalProperties: false,
};
const annotations = { readOnlyHint: true };

const tools: Record<McpMaterial, MaterialTool[]> = {
  resources: [
    {
      definition: {
        name: 'list_resources',
        description: 'Lists the resources of the server, and the templates of URIs of further resources.',
        inputSchema: page,
        annotations,
      },
      async ask(client, args, options) {
        const params = pageOf(args);
        const { resources, nextCursor } = await client.listResources!(params, options);
        const templates = params ? [] : await templatesOf(client, options);
        return json({ resources, ...(templates.length > 0 && { templates }), nextCursor });
      },
    },
    {
      definition: {
        name: 'read_resource',
        description: 'Reads a resource of the server.',
        inputSchema: {
          type: 'object',
          properties: { uri: { ...string, description: 'URI of the resource' } },
          required: ['uri'],
          additionalProperties: false,
        },
        annotations,
      },
      async ask(client, { uri }, options) {
        const { contents } = await client.readResource!({ uri: String(uri) }, options);
        return { content: contents.map((resource) => ({ type: 'resource', resource })) };
      },
    },
  ],
  prompts: [
    {
      definition: {
        name: 'list_prompts',
        description: 'Lists the prompts of the server, and their arguments.',
        inputSchema: page,
        annotations,
      },
      async ask(client, args, options) {
        const { prompts, nextCursor } = await client.listPrompts!(pageOf(args), options);
        return json({ prompts, nextCursor });
      },
    },
    {
      definition: {
        name: 'get_prompt',
        description: 'Reads a prompt of the server.',
        inputSchema: {
          type: 'object',
          properties: {
            name: { ...string, description: 'name of the prompt' },
            arguments: {
              type: 'object',
              additionalProperties: string,
              description: 'arguments of the prompt',
            },
          },
          required: ['name'],
          additionalProperties: false,
        },
        annotations,
      },
      async ask(client, { name, arguments: args }, options) {
        const asked = { name: String(name), arguments: args as Record<string, string> | undefined };
        const { messages } = await client.getPrompt!(asked, options);
        return {
          content: messages.map(({ role, content }) =>
            content.type === 'text' ? { ...content, text: `${role}: ${content.text}` } : content,
          ),
        };
      },
    },
  ],
};

function pageOf({ cursor }: Record<string, unknown>): { cursor: string } | undefined {
  return cursor === undefined ? undefined : { cursor: String(cursor) };
}

/** Servers may have resources and no templates. */
async function templatesOf(client: McpClient, options: McpRequestOptions): Promise<readonly object[]> {
  try {
    return (await client.listResourceTemplates!(undefined, options)).resourceTemplates;
  } catch (error) {
    if (isErrorAnswer(error)) return [];
    throw error;
  }
}

function json(value: object): { content: object[] } {
  return { content: [{ type: 'text', text: JSON.stringify(value) }] };
}
