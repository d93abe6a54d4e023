/** Chat templates that try to freeze or to end the process. Correct ones would be rendered from a conversation at once. */

/** A text of 4·2ⁿ characters and a list of 4·2ⁿ numbers, as `ns.text` and `ns.list`. */
const grown = (doublings: number) =>
  `{% set ns = namespace(text="abcd", list=[1, 2, 3, 4]) %}{% for i in range(${doublings}) %}{% set ns.text = ns.text + ns.text %}{% set ns.list = ns.list + ns.list %}{% endfor %}`;

/** A list that is small in memory, and 2ⁿ characters as text. */
const shared = (doublings: number) => `{% set x = [1] %}${'{% set x = [x, x] %}'.repeat(doublings)}`;

const twice = (body: string, count = 100_000) =>
  `{% for a in range(${count}) %}{% for b in range(${count}) %}${body}{% endfor %}{% endfor %}`;

/** By name. Each needs more time, memory or depth than a rendering may take. */
export const hostileTemplates: Readonly<Record<string, string>> = {
  'a range too long for memory': '{{ range(2000000000) | length }}',
  'a range of tiny steps': '{{ range(0, 1, 0.0000000001) | length }}',
  'a range that waits for a longer conversation':
    '{% if messages | length > 1 %}{{ range(2000000000) }}{% else %}{{ messages[0].content }}{% endif %}',
  'two loops': twice(''),
  'two loops of assignments': twice('{% set x = 1 + 1 %}'),
  'two loops over names without a value': twice('{{ nothing }}', 1000),
  'a long body in a loop': `{% for a in range(100000) %}${'{% set x = 1 + 1 %}'.repeat(5000)}{% endfor %}`,
  'macros declared in a loop': `{% for a in range(10000) %}{% macro f(n) %}${'{{ 1 + 1 }}'.repeat(10_000)}{% endmacro %}{{ f(a) }}{% endfor %}`,
  'a macro that calls itself twice':
    '{% macro f(n) %}{% if n > 0 %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}',
  'a macro that calls itself for ever': '{% macro f(f) %}{{ f(f) }}{% endmacro %}{{ f(f) }}',
  'callers that call twice': `{% macro m() %}{{ caller() }}{{ caller() }}{% endmacro %}${'{% call m() %}'.repeat(60)}x${'{% endcall %}'.repeat(60)}`,
  'dates in a loop': '{% for a in range(100000) %}{{ strftime_now("%B") }}{% endfor %}',
  'a text that doubles': `${grown(27)}{{ ns.text | upper }}`,
  'a list that doubles': `${grown(60)}{{ ns.list | length }}`,
  'texts that are kept': `${grown(20)}{% set kept = namespace(x=[]) %}{% for i in range(1000) %}{% set kept.x = kept.x + [(ns.text ~ i) | upper] %}{% endfor %}`,
  'a long output': `${grown(22)}{{ ns.text }}`,
  'shared lists, printed': `${shared(40)}{{ x }}`,
  'shared lists as a text': `${shared(40)}{{ x | string }}`,
  'shared lists as JSON': `${shared(40)}{{ x | tojson }}`,
  'shared lists, joined': `${shared(40)}{{ x | join }}`,
  'shared lists, joined by a text': `${shared(40)}{{ x | join(",") }}`,
  'shared lists, compared': `${shared(40)}{% set y = x %}${shared(40)}{{ x == y }}`,
  'shared lists, appended to a text': `${shared(40)}{{ "a" ~ x }}`,
  'shared lists, added to a text': `${shared(40)}{{ "a" + x }}`,
  'a namespace that contains itself': '{% set ns = namespace() %}{% set ns.x = ns %}{{ ns | tojson }}',
  'a wide indent': '{{ "a\nb\nc\nd" | indent(100000000) | upper }}',
  'a wide indent by name': '{{ "a\nb\nc\nd" | indent(width=100000000) | upper }}',
  'JSON with a wide indent': '{{ [1, [2, [3]]] | tojson(indent=100000000) }}',
  'JSON with long separators': `${grown(16)}{{ ns.list | tojson(separators=(ns.text, ns.text)) }}`,
  'replacing nothing by a long text': `${grown(16)}{{ ns.text | replace("", ns.text) }}`,
  'the method replace': `${grown(16)}{{ ns.text.replace("a", ns.text) }}`,
  'the method replace by another name': `${grown(16)}{% set f = ns.text.replace %}{{ f("a", ns.text) }}`,
  'the method replace as a computed property': `${grown(16)}{{ ns.text["re" ~ "place"]("a", ns.text) }}`,
  'the method replace with arguments from a list': `${grown(16)}{{ ns.text.replace(*["a", ns.text]) }}`,
  'a filter block': `${grown(16)}{% filter replace("a", ns.text) %}{{ ns.text }}{% endfilter %}`,
  'joining by a long text': `${grown(16)}{{ ns.list | join(ns.text) }}`,
  'searching long texts': `${grown(19)}{{ ((ns.text[:500000] ~ "b") ~ ns.text[:500000]) in ns.text }}`,
  'searching in a loop': `${grown(19)}{% for i in range(10000) %}{{ "x" in ns.text }}{% endfor %}`,
  'searching a list in a loop': `${grown(18)}{% for i in range(10000) %}{{ 7 in ns.list }}{% endfor %}`,
  'splitting in a loop': `${grown(18)}{% for i in range(1000) %}{% set x = ns.text.split("a") %}{% endfor %}`,
  'slicing in a loop': `${grown(18)}{% for i in range(1000) %}{% set x = ns.text[::-1] %}{% endfor %}`,
  'sorting in a loop': `${grown(18)}{% for i in range(1000) %}{% set x = ns.list | sort %}{% endfor %}`,
  'a long attribute in a loop': `${grown(16)}{% for i in range(10000) %}{% set x = [{"a": 1}] | map(attribute=ns.text | replace("c", "."), default="a") | list %}{% endfor %}`,
  'a long chain': `{{ a${'.b'.repeat(90_000)} }}`,
  'a long sum': `{{ 1${'+1'.repeat(90_000)} }}`,
  'many brackets': `{{ ${'('.repeat(90_000)}${')'.repeat(90_000)} }}`,
  'many signs': `{{ ${'-'.repeat(190_000)}1 }}`,
  'many conditions': '{% if a %}'.repeat(19_000),
  'many spaces': `${' '.repeat(400_000)}x`,
  'many open tags': `{%${' '.repeat(900)}`.repeat(200),
  'a long template': 'x'.repeat(2_000_000),
};
