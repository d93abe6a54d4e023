/** Embedder: makes vectors of texts, on a server or in this process. */

export interface Embedder {
  /** A vector per text. @throws ToolEnvError `infrastructure.embeddings`. */
  embed(
    texts: readonly string[],
    options: { kind: 'query' | 'passage'; signal?: AbortSignal | undefined },
  ): Promise<readonly Float32Array[]>;
  close(): Promise<void>;
}
