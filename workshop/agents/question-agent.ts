/** An agent that answers a question with one search tool, whatever framework it is written in. */

/** A JSON Schema. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface QuestionAgentContext {
  question: string;
  instructions: string;
  search: {
    description: string;
    /** Declares an object with the string `query`. */
    inputSchema: JsonSchema;
    run(query: string): Promise<string>;
  };
  /** The model's address, as http://127.0.0.1:8000/v1. */
  baseURL: string;
  apiKey: string;
  signal: AbortSignal;
}

export interface QuestionAgentOptions {
  stream: boolean;
  /** The most requests to the model. */
  maxTurns: number;
}

/** @returns The text of the last answer. */
export type QuestionAgent = (context: QuestionAgentContext, options: QuestionAgentOptions) => Promise<string>;
