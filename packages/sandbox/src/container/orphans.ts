/** orphans: containers and images that an ended process of this machine has left. */
import type { SandboxOrphan } from '@toolenv/core/plugins';
import { isOrphan, label } from '../process-owner.ts';
import { removeContainer } from './container.ts';
import type { DockerClient } from './docker-client.ts';
import { removeImage } from './image.ts';

interface Listed {
  Id: string;
  Image: string;
  Labels?: Record<string, string> | null;
}

/** Containers come before the images that they may use. @throws What the client throws. */
export async function orphans(client: DockerClient): Promise<SandboxOrphan[]> {
  const filters = encodeURIComponent(JSON.stringify({ label: [label] }));
  const left = async (what: string) => {
    const listed = (await client.ask('GET', `/${what}/json?all=true&filters=${filters}`)) as Listed[];
    return listed.filter(({ Labels }) => isOrphan(Labels ?? {}));
  };
  const containers = (await left('containers')).map(({ Id, Image }) => ({
    name: `${Id.slice(0, 12)} of ${Image}`,
    remove: () => removeContainer(client, Id),
  }));
  const images = (await left('images')).map(({ Id }) => ({
    name: `image ${Id.replace('sha256:', '').slice(0, 12)}`,
    remove: () => removeImage(client, Id),
  }));
  return [...containers, ...images];
}
