/** primitiveTools: a server's resources and prompts as tools, for policies that only know tools. */
import { isErrorAnswer } from './client-error.ts';
import type { McpClient, McpRequestOptions, McpToolDefinition } from './mcp-client.ts';

/** What a server may offer in addition to its tools. */
export type McpPrimitive = 'resources' | 'prompts';

export interface PrimitiveTool {
  definition: McpToolDefinition;
  ask(
    client: McpClient,
    args: Record<string, unknown>,
    options: McpRequestOptions,
  ): Promise<{ content: readonly object[] }>;
}

/** The tools for the wanted primitives that the server has. */
export function primitiveTools(client: McpClient, wanted: readonly McpPrimitive[] = []): PrimitiveTool[] {
  const capabilities = client.getServerCapabilities?.() ?? {};
  return [...new Set(wanted)].flatMap((primitive) => (capabilities[primitive] ? tools[primitive] : []));
}

const string = { type: 'string' };
const cursor = { ...string, description: '`nextCursor` of the page before. Default: the first page' };

/** The parameters `properties`, of which those in `required` must be given. */
function tool(
  name: string,
  description: string,
  properties: Record<string, object>,
  required: readonly string[],
  ask: PrimitiveTool['ask'],
): PrimitiveTool {
  const inputSchema = {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
  return { definition: { name, description, inputSchema, annotations: { readOnlyHint: true } }, ask };
}

const listResources = tool(
  'list_resources',
  'Lists the resources of the server, and the templates of URIs of further resources.',
  { cursor },
  [],
  async (client, args, options) => {
    const params = pageOf(args);
    const { resources, nextCursor } = await client.listResources!(params, options);
    const templates = params ? [] : await templatesOf(client, options);
    return json({ resources, ...(templates.length > 0 && { templates }), nextCursor });
  },
);

const readResource = tool(
  'read_resource',
  'Reads a resource of the server.',
  { uri: { ...string, description: 'URI of the resource' } },
  ['uri'],
  async (client, { uri }, options) => {
    const { contents } = await client.readResource!({ uri: String(uri) }, options);
    return { content: contents.map((resource) => ({ type: 'resource', resource })) };
  },
);

const listPrompts = tool(
  'list_prompts',
  'Lists the prompts of the server, and their arguments.',
  { cursor },
  [],
  async (client, args, options) => {
    const { prompts, nextCursor } = await client.listPrompts!(pageOf(args), options);
    return json({ prompts, nextCursor });
  },
);

const getPrompt = tool(
  'get_prompt',
  'Reads a prompt of the server.',
  {
    name: { ...string, description: 'name of the prompt' },
    arguments: { type: 'object', additionalProperties: string, description: 'arguments of the prompt' },
  },
  ['name'],
  async (client, { name, arguments: args }, options) => {
    const asked = { name: String(name), arguments: args as Record<string, string> | undefined };
    const { messages } = await client.getPrompt!(asked, options);
    return {
      // Some servers give several blocks.
      content: messages.flatMap(({ role, content }) =>
        [content]
          .flat()
          .map((block) => (block.type === 'text' ? { ...block, text: `${role}: ${block.text}` } : block)),
      ),
    };
  },
);

const tools: Record<McpPrimitive, PrimitiveTool[]> = {
  resources: [listResources, readResource],
  prompts: [listPrompts, getPrompt],
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
