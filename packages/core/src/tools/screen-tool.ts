/** screenTool: a tool whose results pass a screen before a model reads them, and which records what the screen has replaced. */
import { type Tool, type ToolContext, type ToolResult, text } from '../protocol/tool.ts';
import { boundText } from './bound-text.ts';

/**
 * Looks at a result. Returns `undefined` to let it pass, or what takes its place: a text, or a result such as `failure('This page was
 * withheld.')`.
 */
export type Screen = (
  result: ToolResult,
  call: { name: string; arguments: Record<string, unknown>; context: ToolContext },
) => ToolResult | string | undefined | Promise<ToolResult | string | undefined>;

/** Characters of a replaced result that records keep. */
const most = 4_000;

/**
 * The same tool with a screen: against instructions that a web page gives to the model, or a secret that a file holds. Policies and
 * reward functions see the result that takes the place; its `screened` has what the tool said, for records only. What the screen throws is a
 * fault of the tool.
 */
export function screenTool<Screened extends Tool>(tool: Screened, screen: Screen): Screened {
  return {
    ...tool,
    async execute(args, context) {
      const result = await tool.execute(args, context);
      const other = await screen(result, { name: tool.name, arguments: args, context });
      if (other === undefined) return result;
      const said = boundText(JSON.stringify(result.structuredContent ?? result.content), most);
      return { ...(typeof other === 'string' ? text(other) : other), screened: said };
    },
  };
}
