import { portalSettings } from './portal-settings';

/** The title of the browser's tab on a page: its own, the portal's name and, in a sandbox, the sandbox's. */
export function tabTitle(page: string): string {
  const { brand, sandbox } = portalSettings();
  return [page, brand, ...(sandbox ? [sandbox] : [])].join(' · ');
}
