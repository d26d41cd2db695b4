/** What a deployment sets, as `slices.json` has it under `portal`. */
export interface PortalSettings {
  /** The name the portal carries. */
  brand: string;
  /** The product's name inside sentences. */
  product: string;
  /** Whether this is a demo, with demo accounts and an outbox to read codes from. */
  demo: boolean;
}

let settings: PortalSettings = { brand: 'Mkopo', product: 'the product', demo: false };

/** The deployment's settings; the defaults until the shell has read `slices.json`. */
export function portalSettings(): PortalSettings {
  return settings;
}

/** Called once by the shell, before it draws a slice. */
export function setPortalSettings(read: PortalSettings): void {
  settings = read;
}
