/** Agents on the OpenAI SDK: its own tool runner, and the two loops of its README. They fit versions 6 and 7. */
import type OpenAI6 from 'openai6';
import type OpenAI7 from 'openai7';
import type { QuestionAgent, QuestionAgentContext } from './question-agent.ts';

type Messages = OpenAI7.Chat.ChatCompletionMessageParam[];

export function openaiAgents(Client: typeof OpenAI7 | typeof OpenAI6): {
  runTools: QuestionAgent;
  chatLoop: QuestionAgent;
  responsesLoop: QuestionAgent;
} {
  const clientFor = ({ baseURL, apiKey }: QuestionAgentContext): OpenAI7 =>
    new Client({ baseURL, apiKey }) as OpenAI7;

  const runTools: QuestionAgent = async (context, { stream, maxTurns }) => {
    const { completions } = clientFor(context).chat;
    const { search, signal } = context;
    const body = {
      model: 'policy',
      messages: firstMessages(context),
      tools: [
        {
          type: 'function' as const,
          function: {
            name: 'search',
            description: search.description,
            parameters: search.inputSchema,
            parse: JSON.parse,
            function: ({ query }: { query: string }) => search.run(query),
          },
        },
      ],
    };
    const options = { maxChatCompletions: maxTurns, signal };
    const runner = stream
      ? completions.runTools({ ...body, stream: true }, options)
      : completions.runTools(body, options);
    return (await runner.finalContent()) ?? '';
  };

  const chatLoop: QuestionAgent = async (context, { stream, maxTurns }) => {
    const { completions } = clientFor(context).chat;
    const { search, signal } = context;
    const { description, inputSchema: parameters } = search;
    const messages = firstMessages(context);
    const body = {
      model: 'policy',
      messages,
      tools: [{ type: 'function' as const, function: { name: 'search', description, parameters } }],
    };
    for (let turn = 1; ; turn++) {
      const { choices } = stream
        ? await completions.stream(body, { signal }).finalChatCompletion()
        : await completions.create(body, { signal });
      const { message } = choices[0]!;
      messages.push(message);
      if (!message.tool_calls?.length || turn === maxTurns) return message.content ?? '';
      for (const call of message.tool_calls) {
        if (call.type !== 'function') continue;
        const content = await search.run(JSON.parse(call.function.arguments).query);
        messages.push({ role: 'tool', tool_call_id: call.id, content });
      }
    }
  };

  const responsesLoop: QuestionAgent = async (context, { stream, maxTurns }) => {
    const { responses } = clientFor(context);
    const { question, instructions, search, signal } = context;
    const { description, inputSchema: parameters } = search;
    const input: OpenAI7.Responses.ResponseInput = [{ role: 'user', content: question }];
    const body = {
      model: 'policy',
      instructions,
      input,
      tools: [{ type: 'function' as const, name: 'search', description, parameters, strict: false }],
    };
    for (let turn = 1; ; turn++) {
      const response: OpenAI7.Responses.Response = stream
        ? await responses.stream(body, { signal }).finalResponse()
        : await responses.create(body, { signal });
      input.push(...(response.output as OpenAI7.Responses.ResponseInput));
      const calls = response.output.filter(isCall);
      if (calls.length === 0 || turn === maxTurns) return response.output_text;
      for (const call of calls) {
        const output = await search.run(JSON.parse(call.arguments).query);
        input.push({ type: 'function_call_output', call_id: call.call_id, output });
      }
    }
  };

  return { runTools, chatLoop, responsesLoop };
}

type Item = OpenAI7.Responses.ResponseOutputItem;
const isCall = (item: Item): item is OpenAI7.Responses.ResponseFunctionToolCall =>
  item.type === 'function_call';

function firstMessages({ instructions, question }: QuestionAgentContext): Messages {
  return [
    { role: 'system', content: instructions },
    { role: 'user', content: question },
  ];
}
