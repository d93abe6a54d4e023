/** The static types of values that follow a JSON Schema literal. */

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
type PropertiesOf<Properties, Present> = Flat<
  { -readonly [Key in keyof Properties as Key & Present]: FromJsonSchema<Properties[Key]> } & {
    -readonly [Key in keyof Properties as Exclude<Key, Present>]?: FromJsonSchema<Properties[Key]>;
  }
>;

/** Turns an intersection or an interface into one object type, which is assignable to `Record<string, unknown>`. */
export type Flat<Type> = { [Key in keyof Type]: Type[Key] };

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
