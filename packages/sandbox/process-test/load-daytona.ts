/** The client of Daytona. It has 188 packages, so `npm run interop -- daytona` installs it, and names its folder in DAYTONA_CLIENT. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const clientFolder: string | undefined = process.env.DAYTONA_CLIENT;

export function loadDaytona(): Promise<unknown> {
  const file = join(clientFolder ?? '', 'node_modules/@daytona/sdk/esm/index.js');
  return import(pathToFileURL(file).href);
}
