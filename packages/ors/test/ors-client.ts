/** A client of ORS that sends single requests. */
import { readEvents, type ServerEvent } from '../src/ors-server.ts';

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
  body: any;
}

export class OrsClient {
  readonly url: string;
  readonly session: string;

  constructor(url: string, session = 'mine') {
    this.url = url;
    this.session = session;
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return answerOf(await fetch(this.url + path, { headers: { 'x-session-id': this.session, ...headers } }));
  }

  async post(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return answerOf(await this.send(path, body, headers));
  }

  send(
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    signal?: AbortSignal,
  ): Promise<Response> {
    return fetch(this.url + path, {
      method: 'POST',
      headers: { 'x-session-id': this.session, ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  }

  async events(path: string, body?: unknown): Promise<ServerEvent[]> {
    const events: ServerEvent[] = [];
    for await (const event of eventsOf(await this.send(path, body))) events.push(event);
    return events;
  }

  /** The whole result of a call; the text of an error event. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
  async call(name: string, input: object = {}, taskId?: string): Promise<any> {
    const events = await this.events('/door-v1/call', {
      name,
      input,
      ...(taskId !== undefined && { task_id: taskId }),
    });
    const last = events.at(-1)!;
    if (last.event === 'error') return { error: last.data };
    return JSON.parse(
      events
        .slice(1)
        .map(({ data }) => data)
        .join(''),
    );
  }
}

export async function* eventsOf(response: Response): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  async function* texts() {
    for await (const chunk of response.body ?? []) yield decoder.decode(chunk, { stream: true });
  }
  yield* readEvents(texts());
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  return {
    status: response.status,
    body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text,
  };
}
