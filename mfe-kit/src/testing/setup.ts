import '@testing-library/jest-dom/vitest';
import { cleanup, configure } from '@testing-library/react';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { queryClient } from '../query/query-client';
import { session } from '../session/session';
import { provider } from './provider';

// A busy machine takes its time; a test that waits longer than this waits for what never comes.
configure({ asyncUtilTimeout: 5000 });

// jsdom draws nothing, so it lacks what asks about the drawing.
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
window.IntersectionObserver = class {
  root = null;
  rootMargin = '';
  thresholds = [];
  observe() {}
  unobserve() {}
  disconnect() {}
  takeRecords = () => [];
};
window.ResizeObserver = class {
  observe() {}
  unobserve() {}
  disconnect() {}
};

const getComputedStyle = window.getComputedStyle.bind(window);
window.getComputedStyle = (element) => getComputedStyle(element);

beforeAll(() => provider.listen({ onUnhandledRequest: 'error' }));

afterEach(() => {
  cleanup();
  provider.resetHandlers();
  session.clear();
  queryClient.clear();
  localStorage.clear();
  document.documentElement.className = '';
});

afterAll(() => provider.close());
