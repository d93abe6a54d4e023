/** The scenarios of MCP's conformance suite that ask for what we do not offer, each with the reason. */

const resources = 'an environment offers tools and its conversation, and no resources';
const prompts = 'the prompts are those of the conversation; an environment has none of its own';
const asks = 'an environment does not ask the client for sampling, elicitation or roots';
const logging = 'log messages of an environment are for the user who serves it';
const pending = 'the suite lists it as pending, and the reference server does not pass it';
const elicitation = 'the client does not declare elicitation, which the request of this check needs';
const handles = 'the suite gives no handle with its calls';

/** By scenario, or by scenario and check: `caching:sep-2549-resources-list-caching-hints`. A scenario may end with `*`. */
export const notClaimed: Readonly<Record<'server' | 'handles' | 'client', Readonly<Record<string, string>>>> =
  {
    server: {
      'logging-set-level': logging,
      'tools-call-with-logging': logging,
      'tools-call-with-progress': 'tools of an environment report no progress',
      'completion-complete': 'the arguments of the prompts have nothing to complete',
      'tools-call-sampling': asks,
      'tools-call-elicitation': asks,
      'elicitation-*': asks,
      'input-required-result-basic-*': asks,
      'input-required-result-request-state': asks,
      'input-required-result-multiple-input-requests': asks,
      'input-required-result-multi-round': asks,
      'input-required-result-non-tool-request': asks,
      'input-required-result-result-type': asks,
      'input-required-result-tampered-state': asks,
      'input-required-result-capability-check': asks,
      'server-stateless:sep-2575-server-rejects-undeclared-capability': asks,
      'server-stateless:sep-2575-missing-capability-http-400': asks,
      'resources-*': resources,
      'caching:sep-2549-resources-list-caching-hints': resources,
      'caching:sep-2549-resources-templates-list-caching-hints': resources,
      'prompts-get-*': prompts,
      'server-sse-polling': pending,
      'http-custom-header-server-validation': 'tools of an environment ask for no headers (x-mcp-header)',
    },
    /** In addition, at the endpoint whose tools need a handle. */
    handles: {
      'tools-call-image': handles,
      'tools-call-audio': handles,
      'tools-call-embedded-resource': handles,
      'tools-call-mixed-content': handles,
    },
    client: {
      'elicitation-sep1034-client-defaults': 'the client does not declare elicitation',
      'sep-2322-client-request-state:sep-2322-client-request-state-echoed': elicitation,
      'sep-2322-client-request-state:sep-2322-client-jsonrpc-id-different': elicitation,
      'sep-2322-client-request-state:sep-2322-client-no-state-omitted': elicitation,
    },
  };
