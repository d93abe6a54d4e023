/** Chat templates that never end, that take all memory, or that reach for the process. */
export const hostileTemplates: Readonly<Record<string, string>> = {
  'two nested loops':
    '{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}{{ messages }}',
  'a range of two billion': '{% for i in range(2000000000) %}x{% endfor %}',
  'a text that doubles':
    "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}{{ ns.s }}",
  'a list that doubles':
    '{% set ns = namespace(s=[1]) %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}{{ ns.s }}',
  'a long run of spaces': `{{ messages[0].content${' '.repeat(400_000)}}}`,
  'parentheses in each other': `{{ ${'('.repeat(20_000)}1${')'.repeat(20_000)} }}`,
  'conditions in each other': '{% if true %}'.repeat(20_000) + '{% endif %}'.repeat(20_000),
  'a macro that calls itself': '{% macro a() %}{{ a() }}{{ a() }}{% endmacro %}{{ a() }}',
  'a reach for the process': "{{ ''.constructor.constructor('return process.exit(7)')() }}",
  'a prototype': '{% set x = messages.__proto__ %}{{ x.constructor.constructor }}',
  'a template that is never closed': '{% for message in messages %}{{ message.content',
};
