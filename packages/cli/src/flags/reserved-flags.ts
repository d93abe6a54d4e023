/** The flags that an option of an environment never takes, so that it has the same flag in all commands. */

/** Each flag of a command that opens environments, at the first command that has it. A test compares these with the commands. */
const flags = {
  'toolenv eval':
    'policy players out resume json envOption tool prompts record replay split count samples passScore concurrency temperature constrainCalls maxTokens deadline onDeadline retries onBug onImages maxAborted seed topP topK minP failBelow against junit metric margin confidence budget budgetTokens',
  'toolenv baseline': 'kind placement instruction',
  'toolenv train': 'weights evaluateOn trainer logSteps change trajectories tensorboard rollouts reportTo',
  'toolenv rollout': 'worker lease drain statusPort statusHost',
  'toolenv play': 'episode browser open task turns port',
  'toolenv serve':
    'openai modelName queue conversations http protocol scores host token allowedHost allowedOrigin maxSessions idleTimeout silenceTimeout requestTimeout maxBodyBytes reconnectTimeout controlToken publicUrl',
  'toolenv check': 'option material skip actions timeout',
  toolenv: 'help version',
};

/** The owner of each flag, by the name under which commander keeps the flag's value. */
export const reservedFlags: ReadonlyMap<string, string> = new Map(
  Object.entries(flags).flatMap(([owner, names]) => names.split(' ').map((name) => [name, owner])),
);
