import { createRequire } from 'node:module';
import { send } from './call-failed';

const own = createRequire(import.meta.url)('../package.json') as { version: string };

/** The version of this kit, which is that of the contract. */
export const VERSION = own.version;

/** Fails unless the portal has the contract that this kit was built for. */
export async function checkVersion(url: string): Promise<void> {
  const answer = await send(new Request(`${url}/api/v1/openapi.json`));
  const contract = (await answer.json().catch(() => undefined)) as
    { info?: { version?: string } } | undefined;
  const theirs = contract?.info?.version;
  if (!theirs) throw new Error(`${url} is not a Mkopo portal: it has no contract (HTTP ${answer.status})`);
  if (theirs !== VERSION)
    throw new Error(
      `mkopo-test ${VERSION} is for portals of version ${VERSION}, and ${url} has ${theirs}. ` +
        `Install its own: npm install ${url}/kit/mkopo-test.tgz`,
    );
}
