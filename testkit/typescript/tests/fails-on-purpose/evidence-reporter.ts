import type { Reporter, TestCase, TestResult } from '@playwright/test/reporter';

/** Prints the evidence that is attached to a failed test. */
export default class EvidenceReporter implements Reporter {
  onTestEnd(_: TestCase, { attachments }: TestResult) {
    const evidence = attachments.find(({ name }) => name === 'evidence.json')?.body;
    if (evidence) console.log('EVIDENCE', evidence.toString('base64'));
  }
}
