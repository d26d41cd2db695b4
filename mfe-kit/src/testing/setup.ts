import '@testing-library/jest-dom/vitest';
import { cleanup, configure } from '@testing-library/react';
import { afterAll, afterEach, beforeAll, vi } from 'vitest';
import { language } from '../language/language';
import { queryClient } from '../query/query-client';
import { session } from '../session/session';
import { setPortalSettings } from '../slice/portal-settings';
import { provider } from './provider';

// As long as `expect.poll` waits (build/vitest.mjs).
configure({ asyncUtilTimeout: 15_000 });

// jsdom has no layout, and lacks what depends on it.
window.matchMedia = (query) =>
  Object.assign(new EventTarget(), { matches: false, media: query }) as unknown as MediaQueryList;
window.scrollTo = () => undefined;
Element.prototype.checkVisibility = () => true;
HTMLDialogElement.prototype.showModal = function () {
  this.open = true;
};
HTMLDialogElement.prototype.close = function () {
  if (!this.open) return;
  this.open = false;
  this.dispatchEvent(new Event('close'));
};
Element.prototype.scrollIntoView = () => undefined;
class Observer {
  observe() {}
  unobserve() {}
  disconnect() {}
}
Object.assign(window, { IntersectionObserver: Observer, ResizeObserver: Observer });

const getComputedStyle = window.getComputedStyle.bind(window);
window.getComputedStyle = (element) => getComputedStyle(element);

beforeAll(() => provider.listen({ onUnhandledRequest: 'error' }));

afterEach(async () => {
  vi.useRealTimers();
  cleanup();
  await language.use('en');
  provider.resetHandlers();
  session.clear();
  setPortalSettings({});
  queryClient.clear();
  localStorage.clear();
  document.documentElement.className = '';
});

afterAll(() => provider.close());
