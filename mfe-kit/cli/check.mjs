import { parseArgs } from 'node:util';
import semver from 'semver';
import { misfitsOf } from '../build/slice-problems.mjs';
import { run as build, builtManifest, isBuilt } from './build.mjs';
import { portalAt, readList } from './portal.mjs';
import { Refusal } from './refusal.mjs';
import { portalOf, readSlicePackage } from './slice-package.mjs';

/** Says whether the slice's build will load in a portal, in the words with which the portal would refuse it. */
export async function run(args) {
  const { values } = parseArgs({ args, options: { against: { type: 'string' } } });
  const slicePackage = readSlicePackage();
  const portal = portalAt(portalOf(slicePackage, values.against));
  const list = await readList(portal);
  if (!isBuilt(slicePackage)) await build();
  const problems = problemsIn(builtManifest(slicePackage), slicePackage.name, list);
  if (problems.length > 0) throw new Refusal(problems.join('\n'));
  console.log(`${slicePackage.name} ${slicePackage.version} will load in ${portal}.`);
}

/** Why a portal would refuse a build, from its manifest and the portal's list of slices. */
export function problemsIn({ shared, brings }, name, { shell, slices }) {
  const isOfKit = (library) => /^mfe-kit(\/|$)/.test(library);
  const carried = (library) => (isOfKit(library) ? shell.kit : shell.libraries?.[library]);
  const unfit = shared.filter(
    ({ name: library, requiredVersion }) => !semver.satisfies(carried(library) ?? '', requiredVersion),
  );
  // The entries of the kit have one range, so the first stands for all.
  const firstOfKit = unfit.find((library) => isOfKit(library.name));
  const wrong = unfit
    .filter((library) => library === firstOfKit || !isOfKit(library.name))
    .map(
      ({ name: library, requiredVersion }) =>
        `It was built for ${library} ${requiredVersion}; this shell has ${carried(library) ?? 'none'}.`,
    );
  const others = Object.fromEntries(Object.entries(slices).map(([other, { screens }]) => [other, screens]));
  return [...wrong, ...misfitsOf(name, brings, { shell, others })];
}
