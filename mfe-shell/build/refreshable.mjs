/**
 * Before React: a place where React leaves its renderer, so that the code of a slice, which is loaded later,
 * can refresh screens with it. React's developer tools have the same.
 */
const hook = (globalThis.__REACT_DEVTOOLS_GLOBAL_HOOK__ ??= {
  renderers: new Map(),
  supportsFiber: true,
  inject() {
    return this.renderers.size + 1;
  },
  onScheduleFiberRoot() {},
  onCommitFiberRoot() {},
  onCommitFiberUnmount() {},
});

const { inject } = hook;
hook.inject = function (renderer) {
  takeManyHandlers(renderer);
  const id = inject.call(this, renderer);
  this.renderers.set(id, renderer);
  return id;
};

/** The shell and each slice know their own components; React would ask only who has refreshed last. */
function takeManyHandlers(renderer) {
  const { setRefreshHandler } = renderer;
  if (!setRefreshHandler) return;
  const handlers = new Set();
  renderer.setRefreshHandler = (handler) => {
    handlers.add(handler);
    setRefreshHandler((type) => {
      for (const familyOf of handlers) {
        const family = familyOf(type);
        if (family) return family;
      }
    });
  };
}
