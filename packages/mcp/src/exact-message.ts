/**
 * exactMessage: a JSON-RPC message whose integers are not rounded where a model writes or reads them. JSON has integers of any size, and
 * JavaScript's numbers are exact up to ±(2⁵³ − 1).
 */
import { bigintsAs, exactJson, isObject, unsafeInteger } from '@toolenv/core/schemas';

/**
 * In the arguments of a call, an integer that a number would round is a bigint, which environments refuse as a mistake of the model. In
 * structured content, it is the text of its digits. Elsewhere it is rounded.
 * @throws SyntaxError if the text is not JSON.
 */
export function exactMessage(text: string): unknown {
  return exactJson(text, settle);
}

/** The text of a server's message for a reader that rounds: the same, or with the long integers of its structured content as strings. */
export function exactText(text: string): string {
  if (unsafeInteger(text) === undefined) return text;
  try {
    return JSON.stringify(exactMessage(text));
  } catch {
    // The reader says what is wrong with it.
    return text;
  }
}

function settle(message: unknown): unknown {
  if (Array.isArray(message)) return message.map(settle);
  if (!isObject(message)) return bigintsAs('number', message);
  const { params, result, ...rest } = message;
  return {
    ...(bigintsAs('number', rest) as object),
    ...(params !== undefined && { params: without(params, 'arguments', (args) => args) }),
    ...(result !== undefined && {
      result: without(result, 'structuredContent', (content) => bigintsAs('text', content)),
    }),
  };
}

/** The object with rounded integers, except in one property. */
function without(value: unknown, name: string, read: (part: unknown) => unknown): unknown {
  if (!isObject(value) || value[name] === undefined) return bigintsAs('number', value);
  const { [name]: exact, ...rest } = value;
  return { ...(bigintsAs('number', rest) as object), [name]: read(exact) };
}
