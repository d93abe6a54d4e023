/** Reading fields of bodies that any client may have written. */
import type { JsonSchema, ToolDescription } from '@toolenv/core';
import { isObject } from '@toolenv/core/schemas';
import { BadRequest, refuse } from './model-request.ts';

type Fields = Record<string, unknown>;

/** @throws BadRequest unless the value is an object. */
export function objectAt(value: unknown, field: string): Fields {
  if (isObject(value)) return value;
  throw new BadRequest(field, `${field} must be an object.`);
}

/** @throws BadRequest unless the value is an array. */
export function arrayAt(value: unknown, field: string): unknown[] {
  if (Array.isArray(value)) return value;
  throw new BadRequest(field, `${field} must be an array.`);
}

/** @throws BadRequest unless the value is a string. */
export function stringAt(value: unknown, field: string): string {
  if (typeof value === 'string') return value;
  throw new BadRequest(field, `${field} must be a string.`);
}

const textParts = new Set<unknown>(['text', 'input_text', 'output_text']);

/**
 * The text of a content: a string, nothing, or an array of parts.
 * @throws BadRequest for a part that is not text, such as an image.
 */
export function textAt(content: unknown, field: string): string {
  if (content === null || content === undefined) return '';
  if (typeof content === 'string') return content;
  const parts = arrayAt(content, field).map((part, i) => {
    const at = `${field}[${i}]`;
    const { type, text } = objectAt(part, at);
    if (!textParts.has(type)) refuse(at, `the policy reads text only, not ${JSON.stringify(type)}`);
    return stringAt(text, `${at}.text`);
  });
  return parts.join('');
}

/**
 * @param schemaName Where this wire has the schema of the arguments.
 * @throws BadRequest for a tool without a name, and for two of one name.
 */
export function toolAt(given: unknown, field: string, schemaName: string): ToolDescription {
  const { name, description, [schemaName]: inputSchema } = objectAt(given, field);
  return {
    name: stringAt(name, `${field}.name`),
    description:
      description === undefined || description === null ? '' : stringAt(description, `${field}.description`),
    inputSchema:
      inputSchema === undefined || inputSchema === null
        ? { type: 'object', properties: {} }
        : (objectAt(inputSchema, `${field}.${schemaName}`) as JsonSchema),
  };
}

/** @throws BadRequest for two tools of one name. */
export function distinct(tools: ToolDescription[]): ToolDescription[] {
  const seen = new Set<string>();
  for (const { name } of tools) {
    if (seen.has(name)) throw new BadRequest('tools', `tools: two are called ${JSON.stringify(name)}.`);
    seen.add(name);
  }
  return tools;
}

/**
 * The numbers in the named fields.
 * @throws BadRequest for another value.
 */
export function numbersOf(body: Fields, names: readonly string[]): Record<string, number> {
  const found = names.filter((name) => body[name] !== undefined && body[name] !== null);
  return Object.fromEntries(
    found.map((name) => {
      const value = body[name];
      if (typeof value === 'number') return [name, value];
      throw new BadRequest(name, `${name} must be a number.`);
    }),
  );
}

/**
 * The texts that end an answer, without empty ones.
 * @throws BadRequest for another value, and for more than an observation may have.
 */
export function stopAt(value: unknown, field: string): string[] {
  if (value === undefined || value === null) return [];
  const given = typeof value === 'string' ? [value] : arrayAt(value, field);
  const texts = given.map((text, i) => stringAt(text, `${field}[${i}]`)).filter((text) => text !== '');
  if (texts.length <= 64 && texts.every((text) => text.length <= 1024)) return texts;
  throw new BadRequest(field, `${field}: give at most 64 texts of at most 1,024 characters.`);
}

/**
 * A call that the client wants.
 * @param name Of the tool that it names.
 * @throws BadRequest unless the tool is on offer.
 */
export function choiceOf(name: unknown, tools: readonly ToolDescription[]): { name: string } {
  const found = tools.find((tool) => tool.name === name);
  if (found) return { name: found.name };
  const known = tools.map((tool) => tool.name).join(', ') || 'none';
  throw new BadRequest('tool_choice', `tool_choice: there is no tool ${JSON.stringify(name)}, but ${known}.`);
}

/** @throws BadRequest for a value that asks for something. */
export function expectNone(body: Fields, names: readonly string[], why: string): void {
  for (const name of names) {
    const value = body[name];
    const isEmpty =
      value === undefined || value === null || value === false || Object.keys(Object(value)).length === 0;
    if (!isEmpty || typeof value === 'number' || value === true) refuse(name, why);
  }
}
