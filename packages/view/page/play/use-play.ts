/** The episode that is being played, as the server has it. */
import { useEffect, useState } from 'preact/hooks';
import type { WrittenTurn } from '../../src/play/play-by-hand.ts';
import type { PlayAnswer } from '../../src/play/serve-play.ts';
import { readVisible } from '../../src/view/visible-text.ts';
import { post } from '../server.ts';

export interface Play {
  state?: PlayAnswer;
  /** Why the last turn was not taken, or that the server does not answer. */
  problem: string;
  write(turn: WrittenTurn): void;
  next(): void;
}

export function usePlay(): Play {
  const [state, setState] = useState<PlayAnswer>();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    const source = new EventSource('/api/events');
    const ask = async () => {
      const response = await fetch('/api/play');
      setState(readVisible(await response.text()) as PlayAnswer);
      setProblem('');
    };
    source.onmessage = () => {
      ask().catch((error: Error) => setProblem(error.message));
    };
    source.onerror = () => setProblem('The server does not answer: is toolenv play still running?');
    return () => source.close();
  }, []);
  const send = (path: string, body: object) => {
    post(path, body).catch((error: Error) => setProblem(error.message));
  };
  return {
    state,
    problem,
    write: (turn) => send('/api/turn', turn),
    next: () => send('/api/next', {}),
  };
}
