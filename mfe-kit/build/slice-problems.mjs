/** Paths of the shell, which no slice can have. */
const PATHS_OF_SHELL = ['/dashboard', '/settings'];

/**
 * What is wrong with a slice as it is exported, in sentences: what can be told without building it. `owned`
 * is the content of the shell's `owned-paths.json`.
 */
export function problemsOf(slice, { name, version }, owned) {
  const problems = [];
  if (slice.name !== name) problems.push(`Its name is '${slice.name}', and its package's is '${name}'.`);
  if (slice.version !== version)
    problems.push(`Its version is '${slice.version}', and its package's is '${version}'.`);
  if (!slice.routes?.length) problems.push('It has no routes.');
  for (const { path, Component, lazy } of slice.routes ?? []) {
    if (!path?.startsWith('/'))
      problems.push(`The path '${path}' is not absolute: it has to start with '/'.`);
    const owner = PATHS_OF_SHELL.includes(path)
      ? 'the shell'
      : owned.find((one) => one.path === path && one.slice !== name)?.slice;
    if (owner) problems.push(`The path '${path}' belongs to ${owner}.`);
    const isLazy = lazy !== undefined || Component?.$$typeof === Symbol.for('react.lazy');
    if (!isLazy) problems.push(`The screen at '${path}' is not lazy: use React.lazy, or the route's lazy.`);
  }
  return problems;
}
