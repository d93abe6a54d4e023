/** The path of a reader: the pages of the sidebar of learning in their order, then the reference. */
import type { PageData } from 'vitepress';
import { addressOf, titleOf } from './navigation.ts';

interface Link {
  text: string;
  link: string;
}

/** Where a sidebar ends and the path goes on: from the last recipe to the standard. */
const crossings: readonly (readonly [from: string, to: string])[] = [
  ['docs/recipes/self-play.md', 'packages/core/spec/v1.md'],
];

/** Sets the links at the end of a page that lead into another sidebar. VitePress knows those within one. */
export function crossSidebars(page: PageData): void {
  const next = crossings.find(([from]) => from === page.filePath)?.[1];
  const previous = crossings.find(([, to]) => to === page.filePath)?.[0];
  if (next !== undefined) page.frontmatter.next = linkTo(next);
  if (previous !== undefined) page.frontmatter.prev = linkTo(previous);
}

function linkTo(file: string): Link {
  return { text: titleOf(file), link: addressOf(file) };
}
