import type { Schema } from '../api/schema';

/** The settings of a deployment. */
export interface PortalSettings {
  /** The portal's name. */
  brand: string;
  /** The product's name inside sentences; the brand by default. */
  product: string;
  /** `true` for a demo, with demo accounts and an outbox to read codes from. */
  demo: boolean;
  /** In a demo, the address of the operator's console; otherwise `null`. */
  console: string | null;
  /** The name of the sandbox that this is; `null` in the portal itself. */
  sandbox: string | null;
  /** The IANA time zone of all dates on screens, and of 'today'. */
  timeZone: string;
  /** `live` if screens do all that they show; `specified` if they keep the specification's static parts. */
  screens: 'specified' | 'live';
}

const DEFAULTS: PortalSettings = {
  brand: 'Mkopo',
  product: 'Mkopo',
  demo: false,
  console: null,
  sandbox: null,
  timeZone: 'Africa/Nairobi',
  screens: 'specified',
};

let settings = DEFAULTS;
let personalTimeZone: string | undefined;
let inForce = DEFAULTS;

/**
 * The deployment's settings, with the time zone of the signed-in person; defaults until the shell has read
 * `slices.json`.
 */
export function portalSettings(): PortalSettings {
  return inForce;
}

/** The deployment's time zone, whatever the signed-in person has chosen. */
export function portalTimeZone(): string {
  return settings.timeZone;
}

/** Returns whether the screens do all that they show. */
export function isLive(): boolean {
  return inForce.screens === 'live';
}

/** Called by the session with the time zone that the signed-in person has chosen. */
export function setPersonalTimeZone(timeZone: string | undefined): void {
  personalTimeZone = knownZone(timeZone);
  apply();
}

function apply() {
  inForce =
    personalTimeZone && settings.screens === 'live' ? { ...settings, timeZone: personalTimeZone } : settings;
}

/**
 * The time zone, if this browser knows it: the server's list of time zones may be newer, and `Intl` throws for any other.
 */
function knownZone(timeZone: string | undefined): string | undefined {
  if (!timeZone) return undefined;
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return timeZone;
  } catch {
    console.warn('This browser does not know the time zone', timeZone);
    return undefined;
  }
}

/** Called once by the shell with `portal` of `slices.json`, before it draws a slice. */
export function setPortalSettings(read: Partial<Schema<'LiveSlices'>['portal']>): void {
  const { brand = DEFAULTS.brand, demo = false, console = null, sandbox = null, time_zone } = read;
  settings = {
    brand,
    product: read.product || brand,
    demo,
    console,
    sandbox,
    timeZone: knownZone(time_zone) ?? DEFAULTS.timeZone,
    screens: read.screens === 'live' ? 'live' : DEFAULTS.screens,
  };
  apply();
}
