/** namedSecrets: names the values of a server's variables and headers, and its other secrets, for files that must not have them. */
import { hideInArguments } from '../client/hide-arguments.ts';
import type { McpEndpoint } from '../client/mcp-server.ts';

/**
 * The server, with `${NAME}` in place of each value in `env` and `headers` and of each argument or parameter of the URL that looks secret.
 * @returns Also the names of these variables, which must be set when the server starts.
 */
export function namedSecrets(server: McpEndpoint): { server: McpEndpoint; variables: string[] } {
  const named = new Map<string, string>();
  /** Two secrets with one name, such as two passwords, get two variables. */
  const nameOf = (value: string, name: string): string => {
    const variable = name
      .replace(/([a-z])([A-Z])/g, '$1_$2')
      .replace(/\W/g, '_')
      .toUpperCase();
    const free = [variable, `${variable}_2`, `${variable}_3`];
    const own = free.find((each) => (named.get(each) ?? value) === value) ?? variable;
    named.set(own, value);
    return `\${${own}}`;
  };
  const names = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name,
        /\$\{\w+\}/.test(value) ? value : nameOf(value, name),
      ]),
    );
  const written: McpEndpoint =
    'command' in server
      ? {
          ...server,
          ...(server.args && { args: hideInArguments(server.args, nameOf) }),
          ...(server.env && { env: names(server.env) }),
        }
      : {
          ...server,
          url: hideInArguments([String(server.url)], nameOf)[0]!,
          ...(server.headers && { headers: names(server.headers) }),
        };
  return { server: written, variables: [...named.keys()] };
}
