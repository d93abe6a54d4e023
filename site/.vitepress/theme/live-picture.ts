/** The picture of the home page: an episode of the demo, and below it the playground when a reader asks for it. */
import { withBase } from 'vitepress';
import { defineComponent, h, nextTick, ref } from 'vue';
import { PlayedEpisode } from './played-episode.ts';

/** The playground is 18 MB, so nothing of it is loaded before. */
const isOpen = ref(false);

async function open(): Promise<void> {
  isOpen.value = true;
  await nextTick();
  document.querySelector('.playground-frame')?.scrollIntoView({ behavior: 'smooth', block: 'start' });
}

export const LivePicture = defineComponent({
  setup: () => () =>
    h('div', { class: 'live-picture' }, [
      h(PlayedEpisode),
      h('button', { type: 'button', disabled: isOpen.value, onClick: open }, 'Train it in this tab'),
    ]),
});

export const PlaygroundFrame = defineComponent({
  setup: () => () =>
    isOpen.value
      ? h('iframe', {
          class: 'playground-frame',
          src: withBase('/playground/?embedded'),
          title: 'toolenv playground',
        })
      : undefined,
});
