/** The static types of values that follow a schema: a JSON Schema literal, or a Standard Schema. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonSchema } from '../protocol/json-schema.ts';

/**
 * Follows `type`, `properties`, `required`, `items`, `enum`, `const`, `anyOf` and `oneOf`. Other keywords (`$ref`, `allOf`,
 * `prefixItems`) only widen the type, at most to `unknown`; the type is never wrong.
 */
export type FromJsonSchema<Schema> = Schema extends { const: infer Value }
  ? Value
  : Schema extends { enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { type: readonly (infer Type)[] }
      ? OfType<Type, Schema>
      : Schema extends { type: infer Type }
        ? OfType<Type, Schema>
        : Schema extends { anyOf: readonly (infer Choice)[] } | { oneOf: readonly (infer Choice)[] }
          ? Each<Choice>
          : unknown;

type Each<Choice> = Choice extends unknown ? FromJsonSchema<Choice> : never;

type OfType<Type, Schema> = Type extends 'string'
  ? string
  : Type extends 'number' | 'integer'
    ? number
    : Type extends 'boolean'
      ? boolean
      : Type extends 'null'
        ? null
        : Type extends 'array'
          ? Schema extends { minItems: 2; maxItems: 2 }
            ? [ItemOf<Schema>, ItemOf<Schema>]
            : ItemOf<Schema>[]
          : Type extends 'object'
            ? ObjectOf<Schema>
            : unknown;

/** `unknown` next to `prefixItems`, because `items` then describes only the later items. */
type ItemOf<Schema> = Schema extends { prefixItems: unknown }
  ? unknown
  : Schema extends { items: infer Item }
    ? FromJsonSchema<Item>
    : unknown;

type ObjectOf<Schema> = Schema extends { properties: infer Properties }
  ? PropertiesOf<Properties, RequiredOf<Schema>>
  : Record<string, unknown>;

type RequiredOf<Schema> = Schema extends { required: readonly (infer Key)[] } ? Key : never;

/** An object whose properties are optional, except `Present`. */
type PropertiesOf<Properties, Present> = Simplify<
  { -readonly [Key in keyof Properties as Key & Present]: FromJsonSchema<Properties[Key]> } & {
    -readonly [Key in keyof Properties as Exclude<Key, Present>]?: FromJsonSchema<Properties[Key]>;
  }
>;

/** Turns an intersection or an interface into one object type, which is assignable to `Record<string, unknown>`. */
export type Simplify<Type> = { [Key in keyof Type]: Type[Key] };

/**
 * The options that a schema describes after its defaults are filled in. Required properties and properties with a default
 * are always present.
 */
export type OptionsOf<Schema> = Schema extends { properties: infer Properties }
  ? PropertiesOf<Properties, RequiredOf<Schema> | DefaultedOf<Properties>>
  : Record<string, unknown>;

type DefaultedOf<Properties> = {
  [Key in keyof Properties]: Properties[Key] extends { default: unknown } ? Key : never;
}[keyof Properties];

/** A JSON Schema (2020-12), or a schema of zod, valibot, arktype or another library that implements Standard Schema. */
export type ArgumentsSchema = JsonSchema | StandardSchemaV1;

/** The arguments of `Tool.execute`, as the model sends them. */
export type SentArguments<Schema> = Schema extends StandardSchemaV1
  ? Simplify<StandardSchemaV1.InferInput<Schema>>
  : FromSchema<Schema>;

/** The arguments of the author's `execute`, after the schema's defaults and transforms. */
export type ParsedArguments<Schema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : FromSchema<Schema>;

type FromSchema<Schema> =
  FromJsonSchema<Schema> extends infer Args extends object ? Args : Record<string, unknown>;

/** The arguments that the schemas of the short form describe. */
export type ShortArguments<Arguments> = Simplify<{
  -readonly [Name in keyof Arguments]: FromJsonSchema<Arguments[Name]>;
}>;

/** The options that an environment's own code sees: complete, after the schema's defaults and transforms. */
export type EnvOptions<Schema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : OptionsOf<Schema>;

/** The options as `openEnv` takes them. */
export type EnvOptionsInput<Schema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<Schema>
  : OptionsOf<Schema>;
