import dns from 'node:dns';

/**
 * Makes Node.js find `<name>.localhost` on this machine, as browsers do (RFC 6761), so that Playwright's own
 * calls, such as `page.request` and `route.fetch`, reach sandboxes.
 */
export function findSandboxes(): void {
  const local = (host: string) => (host.endsWith('.localhost') ? 'localhost' : host);
  for (const resolver of [dns, dns.promises]) {
    const lookup: unknown = resolver.lookup;
    const find = (host: string, ...rest: unknown[]): unknown =>
      Reflect.apply(lookup as () => unknown, resolver, [local(host), ...rest]);
    Object.assign(resolver, { lookup: find });
  }
}
