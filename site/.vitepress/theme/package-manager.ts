/** A reader chooses npm, pnpm or bun once: every group of commands then shows this choice, on later pages too. */
import { onContentUpdated } from 'vitepress';
import { onMounted } from 'vue';

const key = 'package-manager';

export function rememberPackageManager(): void {
  onMounted(() => {
    document.addEventListener('change', ({ target }) => {
      if (!(target instanceof HTMLInputElement) || !target.closest('.vp-code-group')) return;
      const manager = labelOf(target);
      if (manager === undefined || manager === localStorage.getItem(key)) return;
      localStorage.setItem(key, manager);
      chooseIn(manager, target);
    });
  });
  onContentUpdated(() => {
    const manager = localStorage.getItem(key);
    if (manager !== null) chooseIn(manager);
  });
}

function labelOf({ id }: HTMLInputElement): string | undefined {
  return document.querySelector<HTMLElement>(`label[for="${id}"]`)?.dataset.title;
}

/** A click, because VitePress's own listener shows the block. */
function chooseIn(manager: string, chosen?: HTMLInputElement): void {
  for (const input of document.querySelectorAll<HTMLInputElement>('.vp-code-group input'))
    if (input !== chosen && !input.checked && labelOf(input) === manager) input.click();
}
