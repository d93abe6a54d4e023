/** An episode of the demo before and after training, whose lines come one after the other. */
import { defineComponent, h, ref } from 'vue';
import episode from './home-episode.json';

interface Line {
  kind: string;
  text: string;
  isRight?: boolean;
}

const signs: Readonly<Record<string, string>> = { call: '→', result: '', answer: '' };

/** Seconds between two lines. */
const pause = 0.7;

function side(title: string, lines: readonly Line[], first: number) {
  return h('div', { class: 'side' }, [
    h('h3', title),
    h(
      'ol',
      lines.map(({ kind, text, isRight }, index) =>
        h(
          'li',
          { class: [kind, isRight && 'right'], style: { animationDelay: `${(first + index) * pause}s` } },
          [
            kind === 'answer' ? h('b', isRight ? '✓ ' : '✗ ') : signs[kind] ? h('b', `${signs[kind]} `) : '',
            text,
          ],
        ),
      ),
    ),
  ]);
}

export const PlayedEpisode = defineComponent({
  setup() {
    // A new key draws the lines anew.
    const times = ref(0);
    return () =>
      h('figure', { class: 'played-episode', key: times.value }, [
        h('figcaption', episode.question),
        h('div', { class: 'sides' }, [
          side('before training', episode.before, 1),
          side('after training', episode.after, 2 + episode.before.length),
        ]),
        h('button', { type: 'button', onClick: () => times.value++ }, 'Play again'),
      ]);
  },
});
