/** Filters of the gallery of environments: they hide rows of its table, and the sections of what they hide. Their choice is in the address. */
import { useData } from 'vitepress';
import { computed, defineComponent, h, nextTick, onMounted, reactive, ref, watch } from 'vue';

interface Row {
  name: string;
  row: HTMLElement;
  /** The heading of the environment, and what follows it. */
  section: readonly HTMLElement[];
  /** Column → text. */
  cells: Readonly<Record<string, string>>;
}

const turnRanges: Readonly<Record<string, (least: number, most: number) => boolean>> = {
  one: (_, most) => most === 1,
  'two or three': (least, most) => most > 1 && least <= 3,
  'four and more': (_, most) => most >= 4,
};

/** Name of a filter → whether a row has the chosen value. */
const filters: Readonly<
  Record<string, { values(rows: readonly Row[]): string[]; fits(row: Row, value: string): boolean }>
> = {
  tools: {
    values: () => ['with tools', 'without tools'],
    fits: ({ cells }, value) => (cells.tools === 'none') === (value === 'without tools'),
  },
  turns: {
    values: () => Object.keys(turnRanges),
    fits: ({ cells }, value) => {
      const numbers = (cells['turns of the oracle']!.match(/\d+/g) ?? []).map(Number);
      return numbers.length > 0 && turnRanges[value]!(numbers[0]!, numbers.at(-1)!);
    },
  },
  tasks: {
    values: (rows) => [...new Set(rows.map(({ cells }) => cells.tasks!))],
    fits: ({ cells }, value) => cells.tasks === value,
  },
  trained: {
    values: (rows) => [
      ...new Set(
        rows.flatMap(({ cells }) => cells['trained in a study']!.split(', ')).filter((name) => name !== '–'),
      ),
    ],
    fits: ({ cells }, value) => cells['trained in a study']!.split(', ').includes(value),
  },
};

export const GalleryFilter = defineComponent({
  setup() {
    const { page } = useData();
    const isGallery = computed(() => page.value.relativePath === 'environments/index.md');
    const rows = ref<Row[]>([]);
    const chosen = reactive<Record<string, string>>({});
    const shown = computed(() =>
      rows.value.filter((row) =>
        Object.entries(chosen).every(
          ([name, value]) => value === '' || filters[name]!.fits(row as Row, value),
        ),
      ),
    );
    const read = async () => {
      await nextTick();
      rows.value = isGallery.value ? readRows() : [];
      const given = new URLSearchParams(location.search);
      for (const [name, { values }] of Object.entries(filters)) {
        const value = given.get(name) ?? '';
        chosen[name] = values(rows.value as Row[]).includes(value) ? value : '';
      }
    };
    onMounted(read);
    watch(isGallery, read);
    watch(shown, (visible) => {
      // Other pages have no rows, and nothing of them is hidden.
      if (isGallery.value) hideAllBut(rows.value as Row[], new Set(visible.map(({ name }) => name)));
    });
    const choose = (name: string, value: string) => {
      chosen[name] = value;
      const query = new URLSearchParams(Object.entries(chosen).filter(([, each]) => each !== ''));
      history.replaceState(
        history.state,
        '',
        `${location.pathname}${query.size > 0 ? `?${query}` : ''}${location.hash}`,
      );
    };
    return () =>
      rows.value.length === 0
        ? undefined
        : h('form', { class: 'gallery-filter', onSubmit: (event: Event) => event.preventDefault() }, [
            ...Object.entries(filters).map(([name, { values }]) =>
              h('label', [
                `${name} `,
                h(
                  'select',
                  {
                    value: chosen[name],
                    onChange: (event: Event) => choose(name, (event.target as HTMLSelectElement).value),
                  },
                  [
                    h('option', { value: '' }, 'any'),
                    ...values(rows.value as Row[]).map((value) => h('option', { value }, value)),
                  ],
                ),
              ]),
            ),
            h('span', { role: 'status' }, `${shown.value.length} of ${rows.value.length} environments`),
          ]);
  },
});

function readRows(): Row[] {
  const table = document.querySelector('.vp-doc table');
  if (!table) return [];
  const heads = [...table.querySelectorAll('th')].map(({ textContent }) => textContent!.trim());
  return [...table.querySelectorAll<HTMLElement>('tbody tr')].map((row) => {
    const texts = [...row.querySelectorAll('td')].map(({ textContent }) => textContent!.trim());
    const name = texts[0]!;
    return {
      name,
      row,
      section: sectionOf(document.getElementById(name)),
      cells: Object.fromEntries(heads.map((head, at) => [head, texts[at]!])),
    };
  });
}

function sectionOf(heading: HTMLElement | null): HTMLElement[] {
  const found: HTMLElement[] = [];
  for (
    let at: Element | null = heading;
    at && (at === heading || !/^H[123]$/.test(at.tagName));
    at = at.nextElementSibling
  )
    found.push(at as HTMLElement);
  return found;
}

/** A package without a visible environment is hidden too. */
function hideAllBut(rows: readonly Row[], names: ReadonlySet<string>): void {
  for (const { name, row, section } of rows)
    for (const element of [row, ...section]) element.hidden = !names.has(name);
  for (const heading of document.querySelectorAll<HTMLElement>('.vp-doc h2')) {
    const own: HTMLElement[] = [heading];
    let hasShown = false;
    for (
      let at = heading.nextElementSibling as HTMLElement | null;
      at && at.tagName !== 'H2';
      at = at.nextElementSibling as HTMLElement | null
    ) {
      if (at.tagName === 'H3') hasShown ||= !at.hidden;
      else if (rows.every(({ section }) => !section.includes(at!))) own.push(at);
    }
    for (const element of own) element.hidden = !hasShown;
  }
}
