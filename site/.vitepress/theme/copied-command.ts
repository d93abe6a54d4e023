/** A command with a button that copies it. */
import { defineComponent, h, ref } from 'vue';

/** Milliseconds for which the button says that it has copied. */
const shown = 2000;

export const CopiedCommand = defineComponent({
  props: { command: { type: String, required: true } },
  setup({ command }) {
    const isCopied = ref(false);
    const copy = async () => {
      await navigator.clipboard.writeText(command);
      isCopied.value = true;
      setTimeout(() => {
        isCopied.value = false;
      }, shown);
    };
    return () =>
      h('p', { class: 'copied-command' }, [
        h('code', command),
        h('button', { type: 'button', onClick: copy }, isCopied.value ? 'Copied' : 'Copy'),
      ]);
  },
});
