import type { Reporter, TestCase, TestResult } from '@playwright/test/reporter';

/** Prints the calls that are attached to a failed test. */
export default class HarReporter implements Reporter {
  onTestEnd(_: TestCase, { attachments }: TestResult) {
    const har = attachments.find(({ name }) => name === 'traffic.har')?.body;
    if (har) console.log('HAR', har.toString('base64'));
  }
}
