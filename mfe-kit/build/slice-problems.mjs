/**
 * The problems of a slice as it is exported and as its package describes it, in sentences: those that can
 * be found without building it. `shell` is the shell's part of `slices.json`, and `others` are the screens of
 * the other slices, by name. The portal checks the same when the slice is published.
 */
export function problemsOf(slice, slicePackage, { shell, others }) {
  const { name, version } = slicePackage;
  const brings = { screens: [], ...slicePackage.slice };
  const routes = slice.routes ?? [];
  const problems = [];
  if (slice.name !== name) problems.push(`Its name is '${slice.name}', and its package's is '${name}'.`);
  if (slice.version !== version)
    problems.push(`Its version is '${slice.version}', and its package's is '${version}'.`);
  if (routes.length === 0) problems.push('It has no routes.');
  for (const { path, Component, lazy } of routes) {
    if (!path?.startsWith('/'))
      problems.push(`The path '${path}' is not absolute: it has to start with '/'.`);
    else if (!brings.screens.some((screen) => screen.path === path))
      problems.push(`The path '${path}' is not in slice.screens of its package.json.`);
    const isLazy = lazy !== undefined || Component?.$$typeof === Symbol.for('react.lazy');
    if (!isLazy) problems.push(`The screen at '${path}' is not lazy: use React.lazy, or the route's lazy.`);
  }
  for (const { path } of brings.screens)
    if (!routes.some((route) => route.path === path))
      problems.push(`The screen '${path}' of its package.json has no route.`);
  for (const { path, reads = [] } of brings.screens)
    for (const call of reads)
      if (!String(call).startsWith('/api/v1/'))
        problems.push(`The screen '${path}' reads '${call}', which is no call of the portal's API.`);
  return [...problems, ...misfitsOf(name, brings, { shell, others })];
}

/** The reasons why the portal would refuse a slice's screens or menu, in the portal's words. */
export function misfitsOf(name, { screens = [], menu = [] }, { shell, others }) {
  const owners = { 'mfe-shell': shell?.screens ?? [], ...others };
  const misfits = [];
  if (screens.length === 0)
    misfits.push('It brings no screen: list its screens in slice.screens of its package.json.');
  for (const { path } of screens)
    for (const [owner, taken] of Object.entries(owners))
      if (owner !== name && taken.some((other) => patternOf(other.path) === patternOf(path)))
        misfits.push(`${name} wants the path ${path}, which ${owner} has.`);
  for (const { label, to, icon } of menu) {
    const entry = `Its menu entry ${JSON.stringify(label)}`;
    if (!screens.some(({ path }) => path === to))
      misfits.push(`${entry} leads to ${JSON.stringify(to)}, which is no screen of it.`);
    if (shell?.icons?.length && !shell.icons.includes(icon))
      misfits.push(
        `${entry} has the icon ${JSON.stringify(icon)}, which mfe-kit ${shell.kit} does not have.`,
      );
  }
  return misfits;
}

/** Two paths with the same pattern are for the same addresses. */
function patternOf(path) {
  return path
    .toLowerCase()
    .split('/')
    .map((part) => (part.startsWith(':') ? ':' : part))
    .join('/');
}
