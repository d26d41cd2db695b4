import { expect, test as base } from 'mkopo-test';

export { expect };

interface Fixtures {
  /** Errors that the page may log when a journey breaks something on purpose. */
  expectedError: RegExp | null;
  quietPage: undefined;
}

/** The test kit's `test`, which here also fails if the page logs an error. */
export const test = base.extend<Fixtures>({
  expectedError: [null, { option: true }],
  quietPage: [
    async ({ page, expectedError }, use) => {
      const errors: string[] = [];
      page.on('pageerror', (error) => errors.push(error.message));
      page.on('console', (message) => {
        // The browser logs every failed call, and journeys make calls fail on purpose.
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
          errors.push(message.text());
      });
      await use(undefined);
      const unexpected = errors.filter((error) => !expectedError?.test(error));
      expect(unexpected, 'errors in the page').toEqual([]);
    },
    { auto: true },
  ],
});
