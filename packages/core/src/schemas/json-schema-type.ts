/** The static type of the values that a JSON Schema literal admits. */

/**
 * Follows `type`, `properties`, `required`, `items`, `enum`, `const`, `anyOf` and `oneOf`. Where another keyword decides
 * (`$ref`, `allOf`, `prefixItems`), the type is wider than the schema, down to `unknown`, and never wrong.
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
          ? ItemOf<Schema>[]
          : Type extends 'object'
            ? ObjectOf<Schema>
            : unknown;

/** Beside `prefixItems`, `items` speaks of the later items only. */
type ItemOf<Schema> = Schema extends { prefixItems: unknown }
  ? unknown
  : Schema extends { items: infer Item }
    ? FromJsonSchema<Item>
    : unknown;

type ObjectOf<Schema> = Schema extends { properties: infer Properties }
  ? Flat<
      { -readonly [Key in keyof Properties as Key & RequiredOf<Schema>]: FromJsonSchema<Properties[Key]> } & {
        -readonly [Key in Exclude<keyof Properties, RequiredOf<Schema>>]?: FromJsonSchema<Properties[Key]>;
      }
    >
  : Record<string, unknown>;

type RequiredOf<Schema> = Schema extends { required: readonly (infer Key)[] } ? Key : never;

/** One object type in place of an intersection or an interface, which makes it assignable to `Record<string, unknown>`. */
export type Flat<Type> = { [Key in keyof Type]: Type[Key] };

/**
 * The options that a schema describes once its defaults are filled in: a property that is required or has a default is
 * always there.
 */
export type OptionsOf<Schema> = Schema extends { properties: infer Properties }
  ? Flat<
      {
        -readonly [Key in keyof Properties as Properties[Key] extends { default: unknown }
          ? Key
          : Key & RequiredOf<Schema>]: FromJsonSchema<Properties[Key]>;
      } & {
        -readonly [Key in keyof Properties as Properties[Key] extends { default: unknown }
          ? never
          : Exclude<Key, RequiredOf<Schema>>]?: FromJsonSchema<Properties[Key]>;
      }
    >
  : Record<string, unknown>;
