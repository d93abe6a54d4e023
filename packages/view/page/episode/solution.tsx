/** How the task is won: the turns of the environment's oracle. */
import type { WrittenTurn } from '../../src/play/play-by-hand.ts';

export function Solution({ turns }: { turns: readonly WrittenTurn[] }) {
  return (
    <section class="message" aria-label="How the task is won">
      <h4>how the task is won</h4>
      {turns.map(({ text, calls }, index) => (
        <pre key={index}>
          {[...calls.map((call) => `${call.name}(${JSON.stringify(call.arguments)})`), text]
            .filter((line) => line !== '')
            .join('\n')}
        </pre>
      ))}
    </section>
  );
}
