/**
 * In the running portal, whose React can't refresh screens, a change of a slice in development reloads the
 * page. The development build of the shell refreshes them, and keeps their state.
 */
const renderers = [...(globalThis.__REACT_DEVTOOLS_GLOBAL_HOOK__?.renderers?.values() ?? [])];
const canRefresh = renderers.some(({ scheduleRefresh }) => scheduleRefresh);

if (import.meta.webpackHot && !canRefresh)
  import.meta.webpackHot.addStatusHandler((status) => {
    if (status === 'prepare') globalThis.location.reload();
  });
