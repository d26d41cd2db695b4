import { createHash } from 'node:crypto';

/** The file in which a build describes itself. */
export const MANIFEST = 'mf-manifest.json';

/** The parts of `slice` in a package.json that the portal reads: the screens, the menu and the failures. */
export function bringsOf({ slice = {} }) {
  const { screens = [], menu = [], failures = {} } = slice;
  return { screens: screens.map(withoutReads), menu, failures };
}

function withoutReads(screen) {
  const brought = { ...screen };
  delete brought.reads;
  return brought;
}

/** The calls that each screen of a package makes first, by its path. The page starts them beside the screen's code. */
export function readsOf({ slice: { screens = [] } = {} }) {
  return Object.fromEntries(screens.flatMap(({ path, reads }) => (reads ? [[path, reads]] : [])));
}

/** The entry of `slices.json` for a build, from the bytes of its manifest and their address. */
export function listedBuild(entry, bytes) {
  const { metaData, shared, brings } = JSON.parse(bytes);
  return {
    version: metaData.buildInfo.buildVersion,
    entry,
    integrity: integrityOf(bytes),
    shell: shared.find(({ name }) => name === 'mfe-kit').requiredVersion,
    ...brings,
    previous: null,
  };
}

/** The entry of `slices.json` for a slice as it is edited: its build changes with every save. */
export function editedBuild(slicePackage, entry) {
  const { version } = slicePackage;
  return { version, entry, integrity: '', shell: '*', ...bringsOf(slicePackage), previous: null };
}

/** The subresource integrity of a file's content. */
export function integrityOf(content, algorithm = 'sha384') {
  return `${algorithm}-${createHash(algorithm).update(content).digest('base64')}`;
}
