/** An episode as a conversation: what came, what the policy wrote, what the tools answered, and what was rewarded. */
import type { ImageBlock } from '@toolenv/core';
import type { RecordedEpisode } from '@toolenv/view/recorded';
import type { Answers } from '../../src/view/routes.ts';
import type { TurnTexts } from '../../src/view/token-texts.ts';
import { duration, plural, whole } from '../numbers.ts';
import type { TokenPlace } from '../tasks/first-difference.ts';
import { type ColouredTurn, type TokenColour, weightedReward } from './token-colours.ts';

type Step = RecordedEpisode['steps'][number];
type CallRecord = Step['calls'][number];
type Message = Step['observation']['messages'][number];

interface Props extends Pick<Answers['/api/episode'], 'episode' | 'texts' | 'learned'> {
  /** Shows the tokens in these colours, in place of the messages. */
  colour?: TokenColour;
  /** The sampled token that is marked. */
  marked?: TokenPlace;
  /** Turns from the beginning that are left out. */
  from?: number;
  /** Leaves out what came before the first turn. */
  isOpened?: boolean;
}

export function Conversation({ episode, from = 0, ...rest }: Props) {
  const { steps } = episode;
  return (
    <ol class="turns">
      {steps.map(
        (step, index) =>
          index >= from && (
            <li key={index}>
              <Turn {...{ ...rest, episode, step, index }} />
            </li>
          ),
      )}
    </ol>
  );
}

function Turn({
  episode,
  texts,
  learned,
  colour,
  marked,
  isOpened = false,
  step,
  index,
}: Omit<Props, 'from'> & { step: Step; index: number }) {
  const { action, calls, environmentCalls = [] } = step;
  const turn = texts.turns[index];
  const { conversation } = step.observation;
  const earlier = episode.steps.slice(0, index);
  const previous = earlier.findLast((each) => each.observation.conversation === conversation);
  const isNew = earlier.length > 0 && previous === undefined;
  const isBack = previous !== undefined && previous !== earlier.at(-1);
  const { messages, isRewritten } = arrived(step, previous);
  const tokens = action.tokens?.action.length;
  return (
    <>
      {isNew && <p class="note">Another conversation begins.</p>}
      {isBack && (
        <p class="note">Back in {conversation === undefined ? 'the first' : 'an earlier'} conversation.</p>
      )}
      {isRewritten && <p class="note">The environment rewrote the conversation.</p>}
      {!(colour && turn) && !(isOpened && index === 0) && <Messages of={messages} />}
      <div class="message assistant">
        <h4>
          turn {index + 1}
          {conversation !== undefined && <small>conversation {conversation}</small>}
          {step.learn === false && <small>not learned from</small>}
          {tokens !== undefined && <small>{plural(tokens, 'token')}</small>}
          {action.usage && <Usage of={action.usage} />}
          {action.stopReason === 'length' && <small class="bad">cut at the largest number of tokens</small>}
        </h4>
        {colour && turn ? (
          <Tokens
            of={{ step, learned: learned[index], rewardSpec: episode.rewardSpec }}
            turn={turn}
            colour={colour}
            marked={marked?.turn === index ? marked.token : undefined}
            hasContext={!(isOpened && index === 0)}
          />
        ) : (
          <>
            <Thought of={action.reasoning} />
            {action.text !== '' && <pre>{action.text}</pre>}
            {action.toolCalls.map((call, at) => (
              <pre key={at} class="call">
                {'parseFailure' in call ? call.text : `${call.name}(${JSON.stringify(call.arguments)})`}
              </pre>
            ))}
          </>
        )}
      </div>
      {[...calls, ...environmentCalls].map((record, at) => (
        <Result
          key={at}
          record={record}
          isOwn={at >= calls.length}
          // The tokens of the next turn have the text.
          isBrief={colour !== undefined && texts.turns[index + 1]?.goesOn === true}
        />
      ))}
      <Rewards step={step} spec={episode.rewardSpec} />
    </>
  );
}

/** What a model thought, folded: it is often longer than what it said. */
function Thought({ of: thought }: { of: string | undefined }) {
  if (thought === undefined) return null;
  return (
    <details class="thought">
      <summary>thought, {plural(thought.length, 'character')}</summary>
      <pre>{thought}</pre>
    </details>
  );
}

export function Messages({ of: messages }: { of: readonly Message[] }) {
  return (
    <>
      {messages.map(({ role, content, ...rest }, at) => (
        <div key={at} class={`message ${role}`}>
          <h4>{role}</h4>
          {'reasoning' in rest && <Thought of={rest.reasoning} />}
          {role !== 'tool' && <pre>{content}</pre>}
          {'images' in rest && <Images of={rest.images} />}
        </div>
      ))}
    </>
  );
}

function Usage({ of: usage }: { of: NonNullable<Step['action']['usage']> }) {
  const { requests, inputTokens, cachedTokens, outputTokens, cost, milliseconds } = usage;
  if (requests === 0) return <small>a reply from disk, which cost nothing</small>;
  return (
    <small>
      {whole(inputTokens)} tokens in ({whole(cachedTokens)} cached) and {whole(outputTokens)} out
      {cost !== undefined && `, $${cost.toFixed(4)}`}, {duration(milliseconds)}
    </small>
  );
}

function Images({ of: images = [] }: { of: readonly ImageBlock[] | undefined }) {
  return (
    <>
      {images.map(({ data, mimeType }, at) => (
        <img key={at} class="shown" src={`data:${mimeType};base64,${data}`} alt={mimeType} />
      ))}
    </>
  );
}

interface TokensProps {
  of: ColouredTurn;
  turn: TurnTexts;
  colour: TokenColour;
  /** Place of the token that is marked. */
  marked: number | undefined;
  /** Whether to show the prompt too. */
  hasContext: boolean;
}

function Tokens({ of, turn, colour, marked, hasContext }: TokensProps) {
  return (
    <>
      {!turn.goesOn && (
        <p class="note">The prompt does not begin with the tokens before: a new row for training.</p>
      )}
      <pre class="tokens">
        {hasContext && <span class="context">{turn.context.join('')}</span>}
        {turn.sampled.map((text, token) => {
          const value = colour.value(token, of);
          return (
            <span
              key={token}
              id={token === marked ? 'marked' : undefined}
              class={`token ${token === marked ? 'marked' : ''} ${value === undefined ? '' : (colour.mark?.(value) ?? '')}`}
              style={{ background: value === undefined ? 'none' : colour.colour(value) }}
              title={`${JSON.stringify(text)}${value === undefined ? '' : ` ${colour.name} ${value.toPrecision(3)}`}`}
            >
              {text}
            </span>
          );
        })}
      </pre>
    </>
  );
}

function Result({ record, isOwn, isBrief }: { record: CallRecord; isOwn: boolean; isBrief: boolean }) {
  const { call, text, mistake, result, milliseconds } = record;
  const fault = mistake?.code ?? (result?.isError ? 'tool_error' : undefined);
  return (
    <div class={`message tool ${fault ? 'failed' : ''}`}>
      <h4>
        {'parseFailure' in call ? 'call' : call.name}
        {isOwn && <small>called by the environment</small>}
        {fault && <small class="bad">✘ {fault}</small>}
        <small>{duration(milliseconds)}</small>
      </h4>
      {text !== '' && !isBrief && <pre>{text}</pre>}
      {result?.screened !== undefined && !isBrief && (
        <details>
          <summary>withheld from the policy</summary>
          <pre>{result.screened}</pre>
        </details>
      )}
    </div>
  );
}

function Rewards({ step, spec }: { step: Step; spec: RecordedEpisode['rewardSpec'] }) {
  const scored = Object.entries(step.rewards ?? {}).filter(([, value]) => value !== null);
  if (scored.length === 0) return null;
  return (
    <p class="rewards">
      rewarded {weightedReward(step, spec)?.toFixed(3)}:{' '}
      {scored.map(([name, value]) => `${name} ${value} × ${spec[name]?.weight ?? 0}`).join(', ')}
    </p>
  );
}

/** The messages that came since the conversation's turn before, apart from what that turn wrote and its tools answered. */
function arrived(
  { observation }: Step,
  previous: Step | undefined,
): { messages: Message[]; isRewritten: boolean } {
  const { messages } = observation;
  if (!previous) return { messages, isRewritten: false };
  const before = previous.observation.messages;
  const goesOn = JSON.stringify(messages.slice(0, before.length)) === JSON.stringify(before);
  if (!goesOn) return { messages, isRewritten: true };
  const news = messages.slice(before.length).filter((message) => {
    // The results of tools are shown with their calls; only their images come as messages.
    const { role } = message;
    return role === 'system' || role === 'user' || (role === 'tool' && message.images !== undefined);
  });
  return { messages: news, isRewritten: false };
}
