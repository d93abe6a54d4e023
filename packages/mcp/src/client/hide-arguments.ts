/** hideInArguments: finds what looks secret in a command line. */

/** Names of flags whose values are secret: `--api-key`, `--dbPassword`. */
const secretName =
  /(authorization|key|token|secret|password|passwd|passphrase|credentials?|cookie|dsn)$|(^|[-_])(auth|pass|pwd|pat)$/i;
const flag = /^--?([A-Za-z][\w.-]*)$/;
const assignment = /^(-*([A-Za-z_][\w.-]*)=|([A-Za-z][\w-]*): *)(.+)$/s;
/** The password in a URL, which may be a part of an argument. */
const urlPassword = /(?<=\b[a-z][\w+.-]*:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/gi;
/** A parameter in the query of a URL, which may be a part of an argument. */
const parameter = /([?&]([A-Za-z][\w.-]*)=)([^\s&#]+)/g;
/** Keys of well-known services, and JSON Web Tokens. */
const knownKey = /\b(?:sk|gh[opsu]|github_pat|glpat|xox[abprs]|hf|AKIA|AIza|eyJ)[-_]?[\w.-]{16,}/g;
const bearer = /(?<=\bBearer +)\S+/gi;
const variable = /\$\{\w+\}/;

/** How a secret is written instead. `name` is the name of its flag or variable. */
type Hide = (value: string, name: string) => string;

/**
 * The arguments, with what looks secret replaced: the value of a flag such as `--api-key`, a password or a key in a URL, a key of a well-known
 * service. A value that names a variable is kept, because the name is no secret.
 */
export function hideInArguments(args: readonly string[], hide: Hide = () => '[redacted]'): string[] {
  const kept = (value: string, name: string) => (variable.test(value) ? value : hide(value, name));
  return args.map((arg, at) => {
    const [, asked = ''] = flag.exec(args[at - 1] ?? '') ?? [];
    if (secretName.test(asked) && !flag.test(arg)) return kept(arg, asked);
    const [, head = '', name = '', header = '', value = ''] = assignment.exec(arg) ?? [];
    if (secretName.test(name || header)) return head + kept(value, name || header);
    return arg
      .replace(urlPassword, (found) => kept(found, 'password'))
      .replace(parameter, (found, head, name, value) =>
        secretName.test(name) ? head + kept(value, name) : found,
      )
      .replace(bearer, (found) => kept(found, 'token'))
      .replace(knownKey, (found) => kept(found, 'key'));
  });
}
