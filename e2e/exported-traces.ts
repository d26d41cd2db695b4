import { Portal } from 'mkopo-test';
import portalOfTheRun, { addressesOfTheRun } from 'mkopo-test/portal';
import { startReceiver, valuesOf } from './receiver';

/**
 * Playwright's `globalSetup` of journeys whose portals export their traces. When all are over, no span may have a value
 * of the demo data.
 */
export default async function portalWhoseTracesAreExported() {
  const receiver = await startReceiver();
  Object.assign(process.env, receiver.settings);
  const stop = await portalOfTheRun();
  const portal = await Portal.connect(addressesOfTheRun());
  const values = await valuesOf(await portal.main());
  return async () => {
    await stop?.();
    receiver.stop();
    const spans = receiver.spans();
    if (spans.length === 0) throw new Error('no trace was exported');
    const found = receiver.findings(values);
    if (found.length > 0) throw new Error(`among ${spans.length} spans: ${found.join(', ')}`);
    console.log(`${values.length} values of the demo data are in none of ${spans.length} spans`);
  };
}
