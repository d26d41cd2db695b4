import { parseArgs } from 'node:util';
import { run as build, isBuilt } from './build.mjs';
import { portalAt } from './portal.mjs';
import { Refusal } from './refusal.mjs';
import { portalOf, readSlicePackage } from './slice-package.mjs';
import { authorizationFor, upload } from './upload.mjs';

/** Builds the slice, and publishes the build with the slice's deploy token. */
export async function run(args) {
  const { values } = parseArgs({
    args,
    options: {
      portal: { type: 'string' },
      token: { type: 'string' },
      hold: { type: 'boolean', default: false },
      force: { type: 'boolean', default: false },
      insecure: { type: 'boolean', default: process.env.MKOPO_INSECURE === 'true' },
    },
  });
  const slicePackage = readSlicePackage();
  const portal = portalAt(portalOf(slicePackage, values.portal));
  const token = values.token ?? process.env.MKOPO_DEPLOY_TOKEN;
  if (!token)
    throw new Refusal(
      `publishing needs the deploy token of ${slicePackage.name} in MKOPO_DEPLOY_TOKEN: 'mkopo slice token add ${slicePackage.name}' makes one.`,
    );
  const authorization = authorizationFor(portal, token, { isAllowed: values.insecure });
  if (!isBuilt(slicePackage)) await build();
  const query = ['hold', 'force'].filter((name) => values[name]).map((name) => [name, 'true']);
  const { status, slice, error } = await upload(slicePackage, { portal, authorization, query });
  if (error) throw new Refusal(error);
  const outcome = status === 201 ? 'is published' : 'was already published';
  const live = slice.live === slicePackage.version ? 'it is live' : `${slice.live ?? 'no build'} is live`;
  console.log(`${slicePackage.name} ${slicePackage.version} ${outcome}; ${live}.`);
}
