import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => Reflect.deleteProperty(globalThis, '__REACT_DEVTOOLS_GLOBAL_HOOK__'));

test.for([
  ['nothing', undefined],
  ["React's developer tools", { renderers: new Map(), inject: () => 7 }],
])('with %s on the page, React asks every slice that has refreshed for a component', async ([, tools]) => {
  globalThis.__REACT_DEVTOOLS_GLOBAL_HOOK__ = tools;
  vi.resetModules();
  await import('./refreshable.mjs');
  let familyOf;
  const react = { setRefreshHandler: (handler) => (familyOf = handler) };
  const hook = globalThis.__REACT_DEVTOOLS_GLOBAL_HOOK__;
  const id = hook.inject(react);
  expect(hook.renderers.get(id)).toBe(react);
  // As two slices do when one after the other is saved.
  react.setRefreshHandler((type) => (type === 'LoansPage' ? 'its new code' : undefined));
  react.setRefreshHandler((type) => (type === 'ReportsPage' ? 'other new code' : undefined));
  expect(['LoansPage', 'ReportsPage', 'ProfilePage'].map((type) => familyOf(type))).toEqual([
    'its new code',
    'other new code',
    undefined,
  ]);
});
